# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Reading files with ITK, and comparison with the C++ programs on the same files."""

import itk
import numpy as np
import pytest
import voxelmaps


@pytest.mark.parametrize(
    "name, options, keywords",
    [
        ("firstorder", "FirstOrder", {}),
        ("glcm", "Cooccurrence --distances 1,2 --asymmetric", {"distances": [1, 2], "symmetric": False}),
        ("gldm", "Dependence --alpha 2 --distances 2", {"alpha": 2, "distances": [2]}),
        ("glrlm", "RunLength --aggregation merge", {"aggregation": "merge"}),
        ("glszm", "SizeZone", {}),
        ("ngtdm", "GrayToneDifference --distances 2", {"distances": [2]}),
    ],
)
def test_maps_equal_those_of_the_program(run_program, make_image, tmp_path, name, options, keywords):
    image = make_image((6, 12, 10))
    path, out = str(tmp_path / "image.nrrd"), tmp_path / "maps.nrrd"
    itk.imwrite(image, path)
    run_program("FeatureMaps", path, out, *f"--features all --radius 1 --levels 16 --class {options}".split())
    expected = voxelmaps.read_maps(out)
    names = [f"{name}_{feature}" for feature in expected]
    keywords = {"features": names, "neighborhood_radius": 1, "number_of_gray_levels": 16, **keywords}
    for x in (image, path):
        actual = voxelmaps.feature_maps(x, **keywords)
        np.testing.assert_array_equal(actual.array, expected.array)
        for ours, theirs in zip(actual.geometry, expected.geometry):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_vessel_of_a_dicom_series(ct_series):
    folder, seeds = ct_series
    ct = itk.imread(str(folder))
    assert itk.size(ct) == [192, 192, 80]
    vessel, bone = (tuple(reversed(seeds[name])) for name in ("vessel", "bone"))
    strength = voxelmaps.fuzzy_connectedness(ct, vessel)
    assert strength[vessel] == 1 and strength[bone] < 0.1
    # The object is a small part of the image and excludes bone.
    assert 10 < np.count_nonzero(strength > 0.4) < 0.05 * strength.size
