# ==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
# ==========================================================================
"""What a new user meets in the first hour: plausible mistakes, and the answers, whose texts all stand here."""

import pydoc
import re
import warnings

import itk
import numpy as np
import pytest
import voxelmaps
from itk.support.helpers import camel_to_snake_case
from voxelmaps import _filters


@pytest.fixture(scope="module")
def image():
    """A head of two gray values with noise, with spacing."""
    random = np.random.default_rng(0)
    image = itk.image_from_array((random.integers(0, 40, (8, 9, 10)) + 100 * (np.arange(10) > 4)).astype(np.int16))
    image.SetSpacing([0.5, 0.75, 3.0])
    return image


ARRAY = np.random.default_rng(1).integers(0, 200, (8, 9, 10)).astype(np.int16)

# Call, error and its text.
MISTAKES = [
    (
        lambda image: itk.run_length_feature_map_image_filter(image, radius=2),
        TypeError,
        "the filter has no parameter radius (did you mean neighborhood_radius?)",
    ),
    (
        lambda image: itk.run_length_feature_map_image_filter(image, neighborhood_radius=-2),
        ValueError,
        "NeighborhoodRadius is -2, but must not be negative",
    ),
    (
        lambda image: voxelmaps.run_length_feature_maps(image, features=["RunEntrpy"]),
        ValueError,
        "Feature 'RunEntrpy' is not valid (did you mean RunEntropy?); choose from SRE, LRE, GLN, RLN, RP, LGRE, HGRE, SRLGE, SRHGE, "
        "LRLGE, LRHGE, GLNN, RLNN, GLV, RV, RE, or use long names",
    ),
    (
        lambda image: itk.fuzzy_connectedness_image_filter(image, seed=[1, 1, 1], adjacency="faces"),
        ValueError,
        "Adjacency 'faces' is not valid (did you mean Face?); choose from Face, FaceEdge, Full",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="glcm", radius=2),
        TypeError,
        "feature_maps has no parameter radius (did you mean neighborhood_radius?)",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="glcm", binWidth=2),
        TypeError,
        "feature_maps has no parameter binWidth (did you mean bin_width?)",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="ngtdm_Busynes"),
        ValueError,
        "class ngtdm has no feature 'Busynes' (did you mean Busyness?); choose from Busyness, Coarseness, Complexity, Contrast, Strength",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="Coarseness"),
        ValueError,
        "there is no class 'Coarseness' of features (did you mean ngtdm_Coarseness?); choose from firstorder, glcm, gldm, glrlm, glszm, "
        "ngtdm",
    ),
    (
        lambda image: voxelmaps.feature_maps(ARRAY, features="glcm", neighborhood_radius=-1),
        ValueError,
        "neighborhood_radius is -1, but must be one integer from 0 to 65535, or 3 of them, one per axis",
    ),
    (
        lambda image: voxelmaps.feature_maps("no-such-file.nii.gz", features="glcm"),
        FileNotFoundError,
        "x no-such-file.nii.gz does not exist",
    ),
    (
        lambda image: voxelmaps.feature_maps(
            image, itk.image_from_array(np.ones((8, 9, 10), np.uint8)), features="glcm"
        ),
        ValueError,
        "mask has the spacing (1.0, 1.0, 1.0), but x has (0.5, 0.75, 3.0)",
    ),
    (
        lambda image: voxelmaps.labels(ARRAY, {1: (0, 0, 0)}, tie_rules="background"),
        TypeError,
        "labels has no parameter tie_rules (did you mean tie_rule?)",
    ),
    (
        lambda image: voxelmaps.labels(ARRAY, {1: (0, 0, 0)}, competition="iterativ"),
        ValueError,
        "competition is 'iterativ' (did you mean iterative?), but must be one of relative, iterative",
    ),
    (
        lambda image: voxelmaps.fuzzy_connectedness(ARRAY, (0, 0, 0), seed=(0, 0, 0)),
        TypeError,
        "fuzzy_connectedness has no parameter seed (did you mean seeds?)",
    ),
    (
        lambda image: voxelmaps.SeedSession(ARRAY, tie_rules="background"),
        TypeError,
        "a SeedSession has no parameter tie_rules (did you mean tie_rule?)",
    ),
    (
        lambda image: voxelmaps.SeedSession(ARRAY, estimate_affinity_from_seeds=False).update({1: (0, 0, 0)}),
        ValueError,
        "there is no affinity: give object_mean, object_variance and difference_variance, or leave out "
        "estimate_affinity_from_seeds=False",
    ),
    (
        lambda image: itk.run_length_feature_map_image_filter(itk.xarray_from_image(image).isel(z=3)),
        ValueError,
        "the attribute direction of the DataArray has the shape (3, 3), but the DataArray has 2 axes, as after isel(z=10): keep the "
        "axis, isel(z=[10]), or delete the attribute, del x.attrs['direction']",
    ),
    (
        lambda image: voxelmaps.run_length_feature_maps(image, bin_edges=[1, 2], discretization_method="levels"),
        ValueError,
        "bin_edges has no effect with the discretization method Levels; it belongs to Edges",
    ),
]


@pytest.mark.parametrize("call, error, text", MISTAKES, ids=[text[:60] for _, _, text in MISTAKES])
def test_mistakes(call, error, text, image):
    with pytest.raises(error) as caught:
        call(image)
    assert str(caught.value) == text


def test_connectedness_without_affinity(image):
    for function, seeds in (
        (itk.fuzzy_connectedness_image_filter, {"seed": [1, 1, 1]}),
        (itk.relative_fuzzy_connectedness_image_filter, {"seeds": {1: [[1, 1, 1]], 2: [[8, 1, 1]]}}),
    ):
        text = "There is no affinity: set ObjectMean, ObjectVariance and DifferenceVariance, or turn EstimateAffinityFromSeeds on."
        with pytest.raises(RuntimeError, match=re.escape(text)):
            function(image, **seeds)
        function(image, **seeds, estimate_affinity_from_seeds=True)
        function(image, **seeds, object_mean=0)
        function(image, **seeds, affinity_function="absolute_difference")


def test_many_ties_are_a_warning():
    x = np.array([[0, 0, 9, 9, 9, 9, 0, 0]], np.uint8)
    seeds = {1: (0, 0), 2: (0, 7)}
    text = "4 of 8 voxels have no label, since several labels have the same claim to them, or no seed reaches them"
    with pytest.warns(UserWarning, match=text) as caught:
        voxelmaps.labels(x, seeds, affinity="absolute_difference")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        voxelmaps.labels(x, seeds, affinity="absolute_difference", tie_rule="lowest_label")
        voxelmaps.labels(x, seeds, affinity="absolute_difference", minimum_strength=0.5)
        voxelmaps.labels(x, seeds, np.array([[1, 1, 0, 0, 0, 0, 1, 1]]), affinity="absolute_difference")


def test_names_asked_for_are_names_returned(image):
    names = ["RunEntropy", "SRE", "GrayLevelNonUniformity"]
    maps = voxelmaps.run_length_feature_maps(image, features=names)
    short = voxelmaps.run_length_feature_maps(image, features=["RE", "SRE", "GLN"])
    assert list(maps) == names and list(short) == ["RE", "SRE", "GLN"]
    for name, other in zip(maps, short):
        np.testing.assert_array_equal(maps[name], short[other])
    each = voxelmaps.run_length_feature_maps(image, features="RunEntropy", aggregation="per_direction")
    assert len(each) == 13 and list(each)[0] == "RunEntropy_1_0_0"
    assert "SRE" in voxelmaps.run_length_feature_maps(image)


def test_images_and_paths_for_feature_maps(image, tmp_path):
    array = itk.array_from_image(image)
    mask = itk.image_from_array((array > 20).astype(np.uint8))
    mask.CopyInformation(image)
    features = ["firstorder_TotalEnergy", "glcm_Contrast"]
    expected = voxelmaps.feature_maps(array, array > 20, features=features, spacing=(3.0, 0.75, 0.5))
    paths = [tmp_path / "image.nii.gz", tmp_path / "mask.nrrd"]
    for each, path in zip((image, mask), paths):
        itk.imwrite(each, str(path))
    sitk = pytest.importorskip("SimpleITK")
    for x, of_mask in (
        (image, mask),
        paths,
        map(str, paths),
        [sitk.ReadImage(str(path)) for path in paths],
        (image, array > 20),
    ):
        maps = voxelmaps.feature_maps(x, of_mask, features=features)
        assert isinstance(maps.array, np.ndarray)
        np.testing.assert_array_equal(maps.array, expected.array)
    colors = itk.image_from_array(np.zeros((8, 9, 10, 3), np.uint8), is_vector=True)
    with pytest.raises(TypeError, match="x has voxels of 3 components, but they must be scalars"):
        voxelmaps.feature_maps(colors, features="glcm")


def test_help_is_that_of_the_cpp_classes(image):
    for name in _filters.FILTERS:
        for class_name in (name, f"Cuda{name}") if _filters.FILTERS[name].has_cuda_class else (name,):
            function = getattr(itk, camel_to_snake_case(class_name))
            text = pydoc.render_doc(function, renderer=pydoc.plaintext)
            assert "number_of_gray_levels\n" in text or "minimum_strength\n" in text, class_name
            assert ("device_id\n" in text) == class_name.startswith("Cuda")
            assert "Proxy of" not in text and "const &" not in text
            cls = getattr(itk, class_name).values()[0]
            assert "Proxy of" not in cls.__doc__
    of_run_lengths = itk.RunLengthFeatureMapImageFilter.values()[0]
    assert of_run_lengths.SetBinWidth.__doc__ == "Width of a bin in units of intensity, > 0. Default: 25."
    assert of_run_lengths.SetAggregation.__doc__ == "How directions are combined. Default: Average."
    for class_name in ("RunLengthFeatureMapImageFilter", "CudaRunLengthFeatureMapImageFilter"):
        text = getattr(itk, camel_to_snake_case(class_name)).__doc__
        keywords = re.findall(r"^(\w+)\n    ", text, flags=re.MULTILINE)
        assert len(keywords) > 15
        known = {name[len("Set") :].lower() for name in dir(getattr(itk, class_name).values()[0])}
        assert {keyword.replace("_", "") for keyword in keywords} <= known


def test_version_and_public_names():
    assert re.fullmatch(r"\d+\.\d+\.\d+", voxelmaps.__version__)
    assert set(voxelmaps.__all__) <= set(dir(voxelmaps))
