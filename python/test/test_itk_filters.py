# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The filters of itk-voxelmaps by ITK's own interface: their results are those of the functions of voxelmaps; versions, and the end of
the interpreter."""

import importlib.metadata
import subprocess
import sys

import numpy as np
import pytest
import voxelmaps

itk = pytest.importorskip("itk")
pytestmark = pytest.mark.skipif(not hasattr(itk, "RunLengthFeatureMapImageFilter"), reason="needs itk-voxelmaps")

TYPES = (np.uint8, np.uint16, np.int16, np.float32, np.float64)
# Class -> name of its filter, and features.
CLASSES = {
    "firstorder": ("first_order", ("Mean", "Entropy")),
    "glcm": ("cooccurrence", ("Contrast", "Idm")),
    "gldm": ("dependence", ("DependenceVariance", "SmallDependenceEmphasis")),
    "glrlm": ("run_length", ("ShortRunEmphasis", "RunEntropy")),
    "glszm": ("size_zone", ("ZonePercentage", "ZoneEntropy")),
    "ngtdm": ("gray_tone_difference", ("Coarseness", "Busyness")),
}


def array_of(dtype=np.int16, shape=(5, 6, 7)):
    return np.random.default_rng(3).integers(0, 200, shape).astype(dtype)


def maps_of(x, texture_class, **parameters):
    """Maps of voxelmaps as ITK has them: the components are the last axis."""
    features = [f"{texture_class}_{name}" for name in CLASSES[texture_class][1]]
    maps = voxelmaps.feature_maps(x, features=features, neighborhood_radius=2, device="cpu", **parameters)
    return np.moveaxis(np.asarray(maps.array), 0, -1)


@pytest.mark.parametrize("shape", [(5, 6, 7), (8, 9)], ids=["3D", "2D"])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.__name__)
@pytest.mark.parametrize("texture_class", CLASSES)
def test_maps_are_those_of_feature_maps(texture_class, dtype, shape):
    x = array_of(dtype, shape)
    name, features = CLASSES[texture_class]
    function = getattr(itk, f"{name}_feature_map_image_filter")
    parameters = {"number_of_gray_levels": 16, "feature_names": list(features)}
    image = function(itk.image_from_array(x), **parameters)
    expected = maps_of(x, texture_class, bin_count=16)
    assert np.array_equal(itk.array_view_from_image(image), expected)
    assert np.array_equal(itk.array_view_from_image(function(x, **parameters)), expected)


def test_several_classes_in_a_mask():
    x, mask = array_of(np.float32), (array_of(np.uint8) > 60).astype(np.uint8) * 255
    features = ["glcm_Contrast", "firstorder_Mean", "glrlm", "ngtdm_Busyness"]
    filter = itk.FeatureMapsImageFilter.New(
        itk.image_from_array(x),
        mask_image=itk.image_from_array(mask),
        feature_names=features,
        discretization_method=itk.GrayLevelDiscretizationEnums.Method_FixedBinSizeAtMultiples,
        bin_width=10.0,
        device=itk.DeviceEnums.Device_CPU,
    )
    filter.Update()
    expected = voxelmaps.feature_maps(x, mask, features=features, bin_width=10)
    assert list(filter.GetFeatureNames()) == list(expected)
    assert np.array_equal(itk.array_view_from_image(filter.GetOutput()), np.moveaxis(expected.array, 0, -1))
    assert filter.GetUsedDeviceName() == "CPU"


def test_data_arrays_have_geometry():
    xarray = pytest.importorskip("xarray")
    x = array_of(np.float32)
    given = xarray.DataArray(x, dims=("z", "y", "x"), coords={"z": np.arange(5) * 2.5})
    maps = itk.xarray_from_image(
        itk.run_length_feature_map_image_filter(given, feature_names=list(CLASSES["glrlm"][1]))
    )
    assert maps.z.values.tolist() == given.z.values.tolist()
    assert np.array_equal(maps.values, maps_of(x, "glrlm", bin_count=32))
    # ITK returns scalar images as they were given.
    strength = itk.fuzzy_connectedness_image_filter(given, seed=[2, 3, 1], estimate_affinity_from_seeds=True)
    assert isinstance(strength, xarray.DataArray)
    assert np.array_equal(strength.values, voxelmaps.fuzzy_connectedness(x, (1, 3, 2)))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.__name__)
def test_response_maps_are_those_of_response_map(dtype):
    x = array_of(dtype)
    filters, poolings = itk.ResponseMapEnums, {"mean": itk.ResponseMapEnums.Pooling_Mean}
    for filter, name, parameters in (
        (filters.Filter_Mean, "mean", {"support_size": 3}),
        (filters.Filter_LaplacianOfGaussian, "LoG", {"sigma": 1.5}),
        (filters.Filter_Laws, "Laws", {"kernels": "E5L5S5", "pooling": "mean", "compute_energy": True}),
        (filters.Filter_Gabor, "Gabor", {"sigma": 1.0, "wavelength": 2.5}),
        (filters.Filter_Wavelet, "wavelet", {"wavelet": "db2", "subband": "LHL", "level": 2}),
    ):
        given = {key: poolings.get(value, value) for key, value in parameters.items()}
        image = itk.response_map_image_filter(itk.image_from_array(x), filter=filter, **given)
        names = {"support_size": "size", "wavelet": "wavelet_name"}
        ours = {names.get(key, key): value for key, value in parameters.items() if key != "compute_energy"}
        ours |= {"energy_distance": 7} if "compute_energy" in parameters else {}
        expected = voxelmaps.response_map(x, name, **ours).astype(np.float32)
        assert np.array_equal(itk.array_view_from_image(image), expected)
    periodic = itk.ResponseMapImageFilter.New(
        itk.image_from_array(x), filter=filters.Filter_Wavelet, boundary=itk.FilterImageEnums.Boundary_Periodic
    )
    periodic.SetSubband("HHH")
    periodic.SetLowPassFilter([0.5**0.5, 0.5**0.5])
    periodic.Update()
    expected = voxelmaps.response_map(x, "wavelet", wavelet_name="haar", subband="HHH", boundary="periodic")
    np.testing.assert_allclose(itk.array_view_from_image(periodic.GetOutput()), expected, rtol=1e-6, atol=1e-4)
    with pytest.raises(RuntimeError, match="Sigma is 0, but must be"):
        itk.response_map_image_filter(itk.image_from_array(x), filter=filters.Filter_LaplacianOfGaussian)


def test_offsets_are_set_one_by_one():
    x = array_of()
    filter = itk.CooccurrenceFeatureMapImageFilter.New(itk.image_from_array(x), feature_names=["Contrast"])
    # Those of distance 1, in another order.
    first, *others = [[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if (k, j, i) > (0, 0, 0)]
    filter.SetOffset(first)
    for offset in others:
        filter.AddOffset(offset)
    filter.SetAggregation(itk.CooccurrenceFeatureMapEnums.Aggregation_Merge)
    filter.Update()
    merged = voxelmaps.feature_maps(x, features=["glcm_Contrast"], aggregation="merge", bin_count=32)
    assert np.array_equal(itk.array_view_from_image(filter.GetOutput())[..., 0], merged["glcm_Contrast"])
    two = itk.dependence_feature_map_image_filter(itk.image_from_array(x), distances=[2], feature_names=["DE"])
    expected = voxelmaps.feature_maps(x, features="gldm_DependenceEntropy", distances=2, bin_count=32)
    assert np.array_equal(itk.array_view_from_image(two)[..., 0], expected.array[0])


def test_methods_are_chosen_by_name():
    filter = itk.RunLengthFeatureMapImageFilter.New(itk.image_from_array(array_of()), device=itk.DeviceEnums.Device_CPU)
    maps = []
    for name in ["", *filter.GetAvailableMethods()]:
        filter.SetMethod(name)
        filter.Update()
        maps.append(itk.array_from_image(filter.GetOutput()))
    assert list(filter.GetAvailableMethods()) == ["BoxSums", "WindowWalk"]
    assert np.array_equal(maps[0], maps[1]) and np.array_equal(maps[0], maps[2])
    filter.SetMethod("SortReduce")
    with pytest.raises(RuntimeError, match='"SortReduce" does not exist.*BoxSums, WindowWalk'):
        filter.Update()


def test_names_of_components():
    per_direction = itk.RunLengthFeatureMapEnums.Aggregation_PerDirection
    options = {"feature_names": ["SRE"], "aggregation": per_direction, "offset": [1, 0, 0]}
    filter = itk.RunLengthFeatureMapImageFilter.New(itk.image_from_array(array_of()), **options)
    assert list(filter.GetFeatureNames()) == ["SRE_1_0_0"]


def test_connectedness_of_vectors():
    x = np.stack([array_of(np.float32), array_of(np.float32)[::-1]], axis=-1)
    filter = itk.FuzzyConnectednessImageFilter.New(
        itk.image_from_array(x, is_vector=True), seed=[2, 3, 1], estimate_affinity_from_seeds=True
    )
    filter.Update()
    segmentation = voxelmaps.labels(x, {1: (1, 3, 2)}, components_axis=-1, strength=True, affinity="geometric_mean")
    assert np.array_equal(itk.array_view_from_image(filter.GetOutput()), segmentation.strength)


def test_labels_with_an_affinity_each():
    x = array_of(np.float32)
    filter = itk.RelativeFuzzyConnectednessImageFilter[itk.Image[itk.F, 3], itk.Image[itk.UC, 3]].New(
        itk.image_from_array(x), affinity=itk.FuzzyConnectednessAffinity([100.0], [500.0], [], [900.0])
    )
    filter.SetAffinityFunction(itk.FuzzyConnectednessEnums.AffinityFunction_GeometricMean)
    filter.SetCompetition(itk.RelativeFuzzyConnectednessEnums.Competition_Relative)
    filter.AddSeed([0, 0, 0], 1)
    filter.AddSeed([6, 5, 4], 2)
    filter.SetAffinityOfLabel(2, itk.FuzzyConnectednessAffinity([20.0], [500.0], [], [900.0]))
    filter.Update()
    moments = {"object_mean": {1: 100, 2: 20}, "object_variance": 500, "difference_variance": 900}
    rules = {"affinity": "geometric_mean", "competition": "relative"}
    expected = voxelmaps.labels(x, {1: (0, 0, 0), 2: (4, 5, 6)}, **rules, **moments)
    assert np.array_equal(itk.array_view_from_image(filter.GetOutput()), expected)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"feature_names": ["SRE", "Sharpness"]}, ("Sharpness", "does not exist", "SRE (", "LRE (")),
        ({"neighborhood_radius": 200}, ("window", "255")),
        ({"number_of_gray_levels": 0}, ("NumberOfGrayLevels is 0",)),
        ({"offset": [9, 9, 9]}, ("9", "-1 to 1")),
        ({"mask_image": np.zeros((5, 6, 7), np.uint8)}, ("the mask has no voxel inside",)),
        ({"mask_image": array_of(np.uint8)}, ("the mask has the values 0 and 17, 35", "SetInsidePixelValue")),
    ],
)
def test_errors_name_the_value(parameters, words):
    with pytest.raises(RuntimeError) as error:
        itk.run_length_feature_map_image_filter(itk.image_from_array(array_of()), **parameters)
    for word in words:
        assert word.lower() in str(error.value).lower()


# --- Processes ---------------------------------------------------------------------------------------------------------

START = "import itk, numpy as np\na = np.zeros((9, 9), np.uint8)\n"
ITK = "itk.ShiftScaleImageFilter.New(itk.image_from_array(a)).Update()\n"
MODULE = "itk.run_length_feature_map_image_filter(a)\n"
THREADER = "print(itk.MultiThreaderBase.GetGlobalDefaultThreader(), itk.MultiThreaderBase.New().GetNameOfClass())\n"


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("code", [MODULE, ITK + MODULE, MODULE + ITK, "import voxelmaps\n" + ITK + MODULE])
def test_processes_end_and_leave_itk_as_it_is(code):
    """The interpreter ends, and the module neither needs nor changes the threads of ITK's own filters."""
    expected, actual = run(START + ITK + THREADER), run(START + code + THREADER)
    assert expected.returncode == actual.returncode == 0, expected.stderr + actual.stderr
    assert (actual.stdout, actual.stderr) == (expected.stdout, expected.stderr)


VERSION = importlib.metadata.version("itk-voxelmaps") if hasattr(itk, "RunLengthFeatureMapImageFilter") else ""


ITK_VERSION = "import itkConfig; itkConfig.ITK_GLOBAL_VERSION_STRING = '{}'"


@pytest.mark.parametrize(
    "change, message",
    [
        *((ITK_VERSION.format(v), f"itk-voxelmaps needs itk 5.4, but this is itk {v}; ") for v in ("5.3.0", "6.0.0")),
        (
            "import voxelmaps; voxelmaps.__version__ = '0.2.9'",
            f"itk-voxelmaps {VERSION} needs voxelmaps {VERSION}, but this is voxelmaps 0.2.9; install it with: pip install "
            f"voxelmaps=={VERSION}",
        ),
    ],
)
def test_other_versions_are_refused(change, message):
    done = run(f"{change}; import itk; itk.RunLengthFeatureMapImageFilter")
    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith(f"ImportError: {message}")
