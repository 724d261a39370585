# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reading a DICOM series with ITK."""

import itk
import numpy as np
import voxelmaps


def test_vessel_of_a_dicom_series(ct_series):
    folder, seeds = ct_series
    ct = itk.imread(str(folder))
    assert itk.size(ct) == [192, 192, 80]
    vessel, bone = (tuple(reversed(seeds[name])) for name in ("vessel", "bone"))
    strength = voxelmaps.fuzzy_connectedness(ct, vessel)
    assert strength[vessel] == 1 and strength[bone] < 0.1
    # The object is a small part of the image and excludes bone.
    assert 10 < np.count_nonzero(strength > 0.4) < 0.05 * strength.size
