# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What functions of tensors on a CUDA device copy through the host: parameters, and no voxels. Needs no ITK."""

import json
import pathlib
import re
import runpy

import numpy as np
import pytest
import voxelmaps
from voxelmaps import _core

SHAPE = (128, 128, 128)
# An image of float32 has 8 MiB.
LIMIT = 64 * 1024
# What the copy that shows that the profiler works has: as much as no other.
MARKER = 1_000_003

FEATURES = {
    "firstorder": ["Mean", "Entropy"],
    "glcm": ["Contrast", "JointEntropy"],
    "gldm": ["DependenceEntropy"],
    "glrlm": ["RunEntropy", "LongRunEmphasis"],
    "glszm": ["ZoneVariance"],
    "ngtdm": ["Coarseness", "Busyness"],
}
MOMENTS = dict(object_mean=130, object_variance=900, difference_variance=400)
CENTER, BESIDE, ABOVE = (64, 64, 64), (64, 64, 120), (20, 64, 64)


def copies_of(trace):
    """Bytes of each copy between host and device in a trace of PyTorch's profiler, which has all copies of the process."""
    copies = []
    for event in trace["traceEvents"]:
        name = str(event.get("name"))
        # Names are such as Memcpy HtoD (Pageable -> Device); DtoD and PtoP do not leave the devices.
        if event.get("ph") == "X" and re.match(r"Memcpy (?!DtoD|PtoP)", name):
            copies.append(int(event["args"]["bytes"]))
    return copies


@pytest.fixture(scope="module")
def torch():
    if _core.number_of_devices() == 0:
        pytest.skip(_core.reason_for_no_device())
    module = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not module.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return module


@pytest.fixture(scope="module")
def profile(torch, tmp_path_factory):
    """Function that calls another one, and returns its result, and the bytes of each copy between host and device."""
    path = tmp_path_factory.mktemp("profiles") / "trace.json"
    marker = torch.zeros(MARKER, dtype=torch.uint8)

    def profile(function):
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
            result = function()
            torch.cuda.synchronize()
            marker.cuda()
            torch.cuda.synchronize()
        path.unlink(missing_ok=True)
        profiler.export_chrome_trace(str(path))
        return result, copies_of(json.loads(path.read_text()))

    # The first profile of a process may miss events.
    profile(lambda: None)
    if MARKER not in profile(lambda: None)[1]:
        pytest.skip("PyTorch's profiler records no copies on this machine")
    return profile


@pytest.fixture(scope="module")
def images(torch):
    """A bright ball in noise, and a mask that is a larger ball, on the device."""
    random = np.random.default_rng(0)
    distance = np.sqrt(sum((i - n // 2) ** 2 for i, n in zip(np.indices(SHAPE), SHAPE)))
    x = np.where(distance < 40, 130, 40) + random.normal(0, 15, SHAPE)
    return torch.as_tensor(x.astype(np.float32), device="cuda"), torch.as_tensor(distance < 60, device="cuda")


def test_copies_are_found(profile, images):
    image, _ = images
    result, copies = profile(lambda: image.cpu().cuda())
    assert sum(copies) == MARKER + 2 * image.numel() * image.element_size() and result.is_cuda


def maps(*arrays, **parameters):
    return voxelmaps.feature_maps(*arrays, features=FEATURES, **parameters).array


def transform(image, mask):
    data = {"ct": image[None], "lesion": mask[None]}
    return voxelmaps.FeatureMapsd("ct", "lesion", features=FEATURES, with_image=True)(data)["ct_maps"]


def example(name):
    """A function of an example."""
    return runpy.run_path(str(pathlib.Path(__file__).parents[2] / "examples" / "pytorch_channels.py"))[name]


# Functions of the image and the mask, and the shape of the result.
CASES = {
    "maps": (lambda x, mask: maps(x), (10, *SHAPE)),
    "maps of int16": (lambda x, mask: maps(x.short(), bin_width=10), (10, *SHAPE)),
    "maps of float64": (lambda x, mask: maps(x, precision="double"), (10, *SHAPE)),
    "maps of a batch": (lambda x, mask: maps(x[None, None]), (10, 1, 1, *SHAPE)),
    "maps in a mask": (lambda x, mask: maps(x, mask, bin_count=32), (10, *SHAPE)),
    "maps of the box of a mask": (lambda x, mask: maps(x, mask, bin_edges=[0, 30, 60], crop="mask"), (10, *[123] * 3)),
    "transform": (transform, (11, *SHAPE)),
    "channels of the example": (lambda x, mask: example("channels_of")(x, mask), (11, *SHAPE)),
    "resampled image": (lambda x, mask: voxelmaps.resample(x, spacing=2), (64, 64, 64)),
    "resampled mask": (lambda x, mask: voxelmaps.resample(mask, spacing=2, interpolation="nearest"), (64, 64, 64)),
    "maps of a resampled image": (lambda x, mask: maps(voxelmaps.resample(x, spacing=2)), (10, 64, 64, 64)),
    "strength": (lambda x, mask: voxelmaps.fuzzy_connectedness(x, CENTER, **MOMENTS), SHAPE),
    "strength of estimated moments": (lambda x, mask: voxelmaps.fuzzy_connectedness(x, [CENTER, ABOVE], mask), SHAPE),
    "labels": (lambda x, mask: voxelmaps.labels(x, {1: CENTER, 2: [BESIDE, ABOVE]}, mask), SHAPE),
    "iterative labels of estimated moments": (
        lambda x, mask: voxelmaps.labels(x, {1: CENTER, 2: BESIDE}, mask, affinity="homogeneity", tie_rule="background"),
        SHAPE,
    ),
    "labels with strength and margin": (
        lambda x, mask: voxelmaps.labels(
            x, {1: CENTER, 2: BESIDE}, strength=True, margin=True, affinity="minimum", **MOMENTS
        ),
        SHAPE,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_no_voxels_through_the_host(case, profile, images):
    function, shape = CASES[case]
    # The first call copies what stays on the device, such as kernels.
    function(*images)
    result, copies = profile(lambda: function(*images))
    for part in result if isinstance(result, tuple) else (result,):
        assert part.is_cuda and tuple(part.shape) == shape
    assert copies.count(MARKER) == 1
    copies.remove(MARKER)
    assert sum(copies) < LIMIT, f"{len(copies)} copies of {max(copies)} bytes at most"


def test_example(images, capsys):
    image = images[0].cpu().numpy()
    losses, dice = example("train")(image, image > 85)
    assert losses[-1] < 0.5 * losses[0] and dice > 0.5
    assert "are on cuda:0" in capsys.readouterr().out
