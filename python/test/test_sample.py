# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The synthetic CT has the same voxels on every machine."""

import hashlib

import numpy as np
import pytest
import voxelmaps

DIGESTS = ["ccf7e7f2e79de96b", "32f302284eac318f", "260cf316095b1713"]


def test_voxels():
    ct = voxelmaps.sample_ct((96, 96, 40))
    image, organs, strokes, seeds = ct
    digests = [hashlib.sha256(each.array.tobytes()).hexdigest()[:16] for each in (image, organs, strokes)]
    assert digests == DIGESTS
    assert [organs.array[seeds[name]] for name in ("liver", "vessel", "bone", "spleen")] == [1, 2, 3, 4]
    # A stroke never leaves its organ.
    drawn = strokes.array > 0
    assert (strokes.array[drawn] % 5 == organs.array[drawn]).all() and len(np.unique(strokes.array)) == 6
    assert image.array.dtype == np.int16 and image.spacing == pytest.approx((358.4 / 96, 358.4 / 96, 232.5 / 40))
    assert image[1:] == organs[1:] == strokes[1:]
    without_noise = voxelmaps.sample_ct((96, 96, 40), noise=0).image.array
    noise = (image.array - without_noise)[np.abs(without_noise) < 1000]
    assert abs(noise.mean()) < 0.1 and noise.std() == pytest.approx(10, rel=0.01)
    assert not np.array_equal(voxelmaps.sample_ct((96, 96, 40), random_seed=2, noise=0).image.array, without_noise)
