# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""FeatureMapsd has the maps of feature_maps, fails when it is made, and keeps the metadata of tensors of MONAI."""

import numpy as np
import pytest
import voxelmaps
from array_libraries import to_numpy

SOME = ["firstorder_Mean", "glcm_Contrast"]


def case_of(number=0):
    rng = np.random.default_rng(number)
    mask = np.zeros((7, 9, 11), np.uint8)
    mask[2:5, 3:7, 4:9] = 1
    return rng.integers(0, 120, mask.shape).astype(np.float32), mask


def maps_of(x, mask=None, **parameters):
    return voxelmaps.feature_maps(x, mask, features=SOME, **parameters).array


def test_maps(library):
    x, mask = case_of()
    data = {"ct": library(x[None]), "lesion": library(mask[None]), "name": "a"}
    transform = voxelmaps.FeatureMapsd("ct", "lesion", features=SOME, bin_width=10, with_image=True)
    result = transform(data)
    assert set(data) == {"ct", "lesion", "name"} and set(result) == {*data, "ct_maps"} and result["name"] == "a"
    channels = to_numpy(result["ct_maps"])
    assert (channels[1:] == maps_of(x, mask, bin_width=10)).all() and (channels[0] == x).all()
    replaced = voxelmaps.FeatureMapsd(["ct"], features=SOME, suffix="")({"ct": library(x[None])})
    assert (to_numpy(replaced["ct"]) == maps_of(x)).all()
    crop = voxelmaps.FeatureMapsd("ct", "lesion", features=SOME, crop="mask", neighborhood_radius=1, with_image=True)
    expected = voxelmaps.feature_maps(x, mask, features=SOME, crop="mask", neighborhood_radius=1)
    channels = to_numpy(crop(data)["ct_maps"])
    assert (channels[0] == x[expected.slices]).all() and (channels[1:] == expected.array).all()


def test_batch_first(library):
    cases = [case_of(i) for i in range(3)]
    x, masks = (np.stack([case[i][None] for case in cases]) for i in (0, 1))
    data = {"ct": library(x), "lesion": library(masks)}
    transform = voxelmaps.FeatureMapsd("ct", "lesion", features=SOME, batch_first=True, with_image=True)
    channels = to_numpy(transform(data)["ct_maps"])
    assert channels.shape == (3, 3, 7, 9, 11)
    for one, (image, mask) in zip(channels, cases):
        assert (one[0] == image).all() and (one[1:] == maps_of(image, mask)).all()


@pytest.mark.parametrize(
    "parameters",
    [
        {"radius_mm": 0.5, "weighting_norm": "euclidean"},
        {"dimension": 2, "neighborhood_radius": (1, 2)},
        {"neighborhood_radius": (0, 1, 1), "device": "cuda"},
        {"bin_edges": [100, 200, 300]},
        {"largest_gray_level": 3},
        {"intensity_range": (-100, 300), "bin_count": 16, "distances": 3},
    ],
)
def test_right_parameters(parameters):
    transform = voxelmaps.FeatureMapsd("ct", "lesion", features=SOME, **parameters)
    assert all(f"{name}={value!r}" in repr(transform) for name, value in parameters.items())


def test_errors_of_cases():
    x, mask = case_of()
    transform = voxelmaps.FeatureMapsd("ct", "lesion", features=SOME)
    for data, kind, message in (
        ({"lesion": mask}, KeyError, "ct"),
        ({"ct": x[None]}, KeyError, "lesion"),
        ({"ct": x, "lesion": mask}, ValueError, r"ct has the shape \(7, 9, 11\), but must have one channel"),
        ({"ct": x[None], "lesion": np.stack([mask] * 2)}, ValueError, "lesion has the shape .*one channel"),
        ({"ct": x[None, None], "lesion": mask}, ValueError, "with a batch, give batch_first=True"),
    ):
        with pytest.raises(kind, match=message):
            transform(data)
    missing = voxelmaps.FeatureMapsd(["ct", "pet"], features=SOME, allow_missing_keys=True)
    assert list(missing({"ct": x[None]})) == ["ct", "ct_maps"]


def test_tensors_of_monai():
    torch = pytest.importorskip("torch")
    data, transforms = pytest.importorskip("monai.data"), pytest.importorskip("monai.transforms")
    x, mask = case_of()
    affine = torch.tensor(
        [[-0.8, 0, 0, 90], [0, 0.72, 1.5, -120], [0, -0.54, 2, 33], [0, 0, 0, 1]], dtype=torch.float64
    )
    image, lesion = (data.MetaTensor(torch.as_tensor(array[None]), affine=affine) for array in (x, mask))
    image.meta["filename_or_obj"] = "a.nii"
    parameters = dict(features=SOME, neighborhood_radius=1)
    transform = voxelmaps.FeatureMapsd("ct", "lesion", **parameters)
    assert isinstance(transform, transforms.MapTransform)
    maps = transforms.Compose([transform])({"ct": image, "lesion": lesion})["ct_maps"]
    assert isinstance(maps, data.MetaTensor) and maps.meta["filename_or_obj"] == "a.nii"
    assert (maps.affine == affine).all() and (maps.numpy() == maps_of(x, mask, neighborhood_radius=1)).all()
    crop = voxelmaps.FeatureMapsd("ct", "lesion", crop="mask", with_image=True, **parameters)
    maps = crop({"ct": image, "lesion": lesion})["ct_maps"]
    box = voxelmaps.feature_maps(x, mask, crop="mask", **parameters).slices
    first = torch.tensor([part.start for part in box] + [1], dtype=torch.float64)
    assert (maps.affine @ torch.tensor([0.0, 0, 0, 1], dtype=torch.float64) == affine @ first).all()
    assert (maps.affine[:3, :3] == affine[:3, :3]).all() and (image.affine == affine).all()
    assert (maps[0].numpy() == x[box]).all()
    loader = data.DataLoader(data.Dataset([{"ct": image, "lesion": lesion}] * 2), batch_size=2)
    batch = next(iter(loader))
    maps = voxelmaps.FeatureMapsd("ct", "lesion", batch_first=True, **parameters)(batch)["ct_maps"]
    assert maps.shape == (2, 2, 7, 9, 11) and (maps.affine == batch["ct"].affine).all()
    assert (maps[1].numpy() == maps_of(x, mask, neighborhood_radius=1)).all()
