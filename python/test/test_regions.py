# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Features of regions: oracles, closed forms, published values, PyRadiomics, hostile masks."""

import math
import os
import pathlib
import re
import warnings

import numpy as np
import pytest
import voxelmaps
from array_libraries import library, needs_device  # noqa: F401
from test_program import rows_of, run, write_case  # noqa: F401
from test_rules import LABELS, SPACING, X, kind, volume  # noqa: F401
from voxelmaps import _feature_maps, radiomics

import pyradiomics_oracle

ROOT = pathlib.Path(__file__).parents[2]
CLASSES = ("firstorder", "glcm", "gldm", "glrlm", "glszm", "ngtdm")


def region(x, mask, **parameters):
    """Values of one region by name."""
    table = voxelmaps.region_features(x, mask, minimum_dimensions=0, **parameters)
    return {name: column[0] for name, column in table.items()}


# --- Oracles -----------------------------------------------------------------------------------------------------------


def diameters_of(mask, spacing):
    """Greatest distance of vertices of the mesh: all, and those with the same x, y and z. Quadratic."""
    padded = np.pad(mask, 1).astype(int)
    points = []
    for axis in range(3):
        step = np.eye(3)[axis] / 2
        points += [index + step for index in np.argwhere(np.diff(padded, axis=axis) != 0)]
    points = np.array(points)
    squares = ((points[:, None] - points) * spacing) ** 2
    is_same = [points[:, None, axis] == points[None, :, axis] for axis in (2, 1, 0)]
    return [math.sqrt((squares.sum(axis=2) * where).max()) for where in [True, *is_same]]


@pytest.mark.parametrize("density", [0.03, 0.4, 0.9])
def test_diameters_and_axes(density):
    for seed in range(12):
        random = np.random.default_rng(seed)
        mask = random.random(random.integers(1, 8, 3)) < density
        mask.flat[0] = True
        spacing = random.uniform(0.3, 4, 3)
        features = region(mask.astype(float), mask, features="shape", spacing=spacing)
        names = ("Maximum3DDiameter", "Maximum2DDiameterRow", "Maximum2DDiameterColumn", "Maximum2DDiameterSlice")
        found = [features[f"shape_{name}"] for name in names]
        assert found == pytest.approx(diameters_of(mask, spacing), rel=1e-14)
        points = np.argwhere(mask) * spacing
        variances = np.linalg.eigvalsh(np.cov(points.T, bias=True).reshape(3, 3)) if len(points) > 1 else np.zeros(3)
        lengths = [features[f"shape_{name}AxisLength"] ** 2 / 16 for name in ("Least", "Minor", "Major")]
        assert lengths == pytest.approx(variances, abs=1e-12)


def test_mesh_of_all_cubes_of_pyradiomics():
    """All 256 cases of marching cubes, and the 16 of squares, by code that is not ours."""
    cshape = pytest.importorskip("radiomics._cshape", reason="PyRadiomics is not installed")
    spacing = np.array([0.7, 1.3, 2.1])
    for case in range(1, 256):
        mask = np.array([case >> i & 1 for i in range(8)], bool).reshape(2, 2, 2)
        mask = mask[np.ix_(*(mask.any(axis=axes) for axes in ((1, 2), (0, 2), (0, 1))))]
        area, volume, _ = cshape.calculate_coefficients(np.pad(mask, 1), spacing)
        features = region(mask.astype(float), mask, features=["shape_SurfaceArea", "shape_MeshVolume"], spacing=spacing)
        assert [*features.values()][2:] == pytest.approx([area, volume], rel=1e-13)
    for case in range(1, 16):
        mask = np.array([case >> i & 1 for i in range(4)], bool).reshape(2, 2)
        expected = cshape.calculate_coefficients2D(np.pad(mask, 1), spacing[:2].copy())
        names = [f"shape2D_{name}" for name in ("Perimeter", "MeshSurface", "MaximumDiameter")]
        features = region(mask.astype(float), mask, features=names, spacing=spacing[:2])
        assert [features[name] for name in names] == pytest.approx(expected, rel=1e-13)


# --- Closed forms ------------------------------------------------------------------------------------------------------


def test_flat_planes_and_single_voxels():
    x = np.full((3, 4, 5), 7.25)
    one = region(x, x > 0, features=CLASSES, bin_count=8)
    assert (one["firstorder_Entropy"], one["firstorder_Skewness"], one["firstorder_Variance"]) == (0, 0, 0)
    assert (one["glcm_Correlation"], one["glcm_MCC"], one["glszm_ZoneVariance"]) == (1, 1, 0)
    assert one["glszm_LargeAreaEmphasis"] == 60**2 and one["ngtdm_Coarseness"] == 1e6
    mask = np.zeros(x.shape, bool)
    mask[1, 1, 1] = True
    single = region(x, mask, features=[*CLASSES, "shape"], bin_count=8)
    assert np.isnan([single["shape_Elongation"], single["shape_Flatness"]]).all() and single["shape_VoxelVolume"] == 1
    assert np.isnan(single["glcm_Contrast"]) and single["glcm_MCC"] == 1 and np.isnan(single["glrlm_RunEntropy"])
    assert single["glszm_ZonePercentage"] == single["gldm_SmallDependenceEmphasis"] == 1


# --- Published values --------------------------------------------------------------------------------------------------


def phantom():
    text = (ROOT / "core/test/IbsiPhantom.h").read_text()
    for name in ("phantomImage", "phantomMask"):
        numbers = re.sub(r"//.*", "", re.search(rf"{name}{{(.*?)}};", text, re.DOTALL)[1])
        yield np.array([int(number) for number in numbers.split(",")]).reshape(4, 4, 5)


def test_morphology_of_the_ibsi():
    image, mask = phantom()
    published = {
        **{"volume": 556, "approximate_volume": 592, "surface_area": 388, "surface_to_volume_ratio": 0.698},
        **{"sphericity": 0.843, "maximum_3d_diameter": 13.1, "major_axis_length": 11.4, "minor_axis_length": 9.31},
        **{"least_axis_length": 8.54, "elongation": 0.816, "flatness": 0.749},
    }
    features = region(image, mask, features=[f"shape_{name}" for name in published], spacing=(2, 2, 2))
    for name, value in published.items():
        computed = features[f"shape_{name}"]
        # The IBSI's covariance has the divisor N - 1, PyRadiomics' N.
        computed *= math.sqrt(74 / 73) if name.endswith("axis_length") else 1
        assert float(f"{computed:.3g}") == value, name


@pytest.mark.parametrize("name", CLASSES[1:])
def test_textures_of_the_ibsi(name):
    """All aggregations: over slices, in slices merged, and in space, each averaged, and merged where there are directions."""
    image, mask = phantom()
    text = (ROOT / "test/itkPublishedValuesGTest.cxx").read_text("utf-8")
    names = ("firstOrder", "cooccurrence", "dependence", "runLength", "sizeZone", "grayToneDifference")
    table = re.search(rf"^const Rows {names[CLASSES.index(name)]}{{(.*?)^}};", text, re.DOTALL | re.MULTILINE)[1]
    rows = re.findall(r'{ "(\w+)", { ([^}]*) } }', table)
    slices = mask * np.arange(1, 5)[:, None, None]
    columns = []
    for regions, plane_axis in ((slices, 0), (mask, 0), (mask, None)):
        for aggregation in ("average", "merge") if name in ("glcm", "glrlm") else (None,):
            parameters = {"largest_gray_level": 6, "plane_axis": plane_axis, "aggregation": aggregation}
            features = [f"{name}_{feature}" for feature, _ in rows]
            table = voxelmaps.region_features(image, regions, features=features, **parameters)
            columns.append({key: column.mean() for key, column in table.items()})
    assert len(rows) >= 5
    for key, (_, values) in zip(features, rows):
        published = [float(value) for value in values.split(",")]
        assert [float(f"{column[key]:.3g}") for column in columns] == published, key


# --- PyRadiomics -------------------------------------------------------------------------------------------------------


def difference(key, ours, theirs, values):
    """The difference of a value from PyRadiomics' in units of what its rounding permits: 10^-10, relative."""
    feature = key.rpartition("_")[2]
    if feature == "MCC" and abs(ours - theirs) < 1e-8:
        # Eigenvalues of matrices that are not symmetric have few digits in PyRadiomics, where they are close.
        return 0.0
    if feature in ("MCC", "Imc2", "Flatness", "Elongation", "LeastAxisLength", "MinorAxisLength"):
        # Roots: numbers near 0 have half of the digits.
        scale = values[key[: -len(feature)] + "MajorAxisLength"] ** 2 if "AxisLength" in feature else 1
        return abs(ours**2 - theirs**2) / (1e-10 * theirs**2 + 1e-12 * scale + 1e-300)
    # Sums of terms of both signs, and of logarithms of probabilities to which PyRadiomics adds 2^-52.
    scale = {"ClusterShade": values.get("original_glcm_ClusterProminence", 0) ** 0.75}.get(feature, 1)
    is_sum = "Entropy" in feature or feature in ("Imc1", "Correlation", "Skewness", "ClusterShade")
    result = abs(ours - theirs) / (1e-10 * abs(theirs) + (1e-12 * scale if is_sum else 0) + 1e-30)
    return math.inf if math.isnan(result) else result


def random_case(random):
    shape = random.integers(2, 10, 3)
    x = random.normal(0, 60, shape)
    for axis in range(int(random.integers(3))):
        x = (x + np.roll(x, 1, axis)) / 2
    mask = (random.random(shape) < random.choice([0.3, 0.6, 0.97])).astype(np.uint8)
    # PyRadiomics finds no label in a mask without background.
    mask.flat[0] = 0
    plane = random.choice([None, 0, 1, 2])
    settings = {
        "binWidth": random.choice([3.0, 7.5, 25.0]),
        "binCount": random.choice([None, 1, 7, 32]),
        "distances": [[1], [1], [1], [2], [1, 3]][random.integers(5)],
        "symmetricalGLCM": bool(random.random() < 0.7),
        "weightingNorm": random.choice([None, None, "manhattan", "euclidean", "infinity", "no_weighting"]),
        "force2D": plane is not None,
        "force2Ddimension": plane or 0,
        "gldm_a": int(random.choice([0, 0, 1, 5])),
        "voxelArrayShift": int(random.choice([0, 100])),
        "resegmentRange": random.choice([None, None, None, "range"]) and [-80, 80],
        "resegmentShape": True,
        "minimumROIDimensions": 1,
        "additionalInfo": False,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    dtype = random.choice(["int16", "int8", "float32", "float64", "int32"])
    # Weights of GLCM are exp(-length^2): those of long steps are below the 2^-52 that PyRadiomics adds.
    spacing = random.uniform(0.3, 1, 3) if "weightingNorm" in settings else random.uniform(0.3, 4, 3)
    return x.astype(dtype), mask, spacing, settings


def test_random_settings_of_pyradiomics():
    """Set VOXELMAPS_RANDOM_REGIONS for more sets of settings."""
    pyradiomics = pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    import SimpleITK as sitk
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    pyradiomics.setVerbosity(60)
    random = np.random.default_rng(int(os.environ.get("VOXELMAPS_RANDOM_SEED", "1")))
    compared, worst = 0, (0.0, "")
    for number in range(int(os.environ.get("VOXELMAPS_RANDOM_REGIONS", "60"))):
        x, mask, spacing, settings = random_case(random)
        image, labels = sitk.GetImageFromArray(x), sitk.GetImageFromArray(mask)
        for each in (image, labels):
            each.SetSpacing(spacing.tolist())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                theirs = RadiomicsFeatureExtractor(**settings).execute(image, labels)
            except (ValueError, RuntimeError):
                with pytest.raises(ValueError):
                    radiomics.execute(image, labels, voxelBased=False, **settings)
                continue
            ours = radiomics.execute(image, labels, voxelBased=False, **settings)
        assert list(ours) == list(theirs)
        compared += 1
        for key, value in theirs.items():
            value = float(np.real(value))
            # Without any pair, RunEntropy and RunVariance of merged matrices are 0 in PyRadiomics.
            if np.isnan(ours[key]) and (np.isnan(value) or value == 0 and "_Run" in key):
                continue
            if np.isnan(value) and "MCC" in key:
                continue
            far = difference(key, ours[key], value, ours)
            worst = max(worst, (far, f"{key} {number} {ours[key]} {value} {settings}"))
    assert compared > 30 and worst[0] <= 1, worst


def test_sizes_of_voxels_are_those_of_the_image():
    """As in PyRadiomics, where the grid of the mask differs within geometryTolerance."""
    image, mask = (pyradiomics_oracle.to_simpleitk(array) for array in (np.full((4, 5, 6), 3), np.ones((4, 5, 6), int)))
    mask.SetSpacing([1.05 * spacing for spacing in mask.GetSpacing()])
    classes = {"firstorder": ["TotalEnergy"], "shape": ["VoxelVolume"]}
    settings = {"geometryTolerance": 0.6, "additionalInfo": False, "voxelBased": False}
    volume = 120 * math.prod(image.GetSpacing())
    values = radiomics.execute(image, mask, featureClass=classes, **settings)
    assert values["original_firstorder_TotalEnergy"] == pytest.approx(9 * volume, rel=1e-12)
    assert values["original_shape_VoxelVolume"] == pytest.approx(volume, rel=1e-12)


def test_extractor_and_parameter_files(tmp_path):
    pytest.importorskip("radiomics", reason="PyRadiomics is not installed")
    from radiomics.featureextractor import RadiomicsFeatureExtractor

    image = pyradiomics_oracle.to_simpleitk(pyradiomics_oracle.image_array("int16"))
    mask = pyradiomics_oracle.to_simpleitk(pyradiomics_oracle.mask_array("holes"))
    params = {
        "imageType": {"Original": {}, "LoG": {"sigma": [2.0]}, "Wavelet": {"binWidth": 10}},
        "featureClass": {
            "shape": ["Sphericity", "MeshVolume", "Compactness1", "Compactness2", "SphericalDisproportion"],
            "glcm": None,
        },
        "setting": {"binWidth": 20, "label": 2, "normalize": True, "normalizeScale": 100, "voxelBased": False},
    }
    given = {**params, "setting": {k: v for k, v in params["setting"].items() if k != "voxelBased"}}
    theirs = RadiomicsFeatureExtractor(given).execute(image, mask)
    ours = radiomics.execute(image, mask, params)
    of_extractor = radiomics.RadiomicsFeatureExtractor(given).execute(image, mask)
    keys = [key for key in theirs if "Versions" not in key and "Hash" not in key]
    assert [key for key in ours if "Versions" not in key] == keys and set(keys) <= set(of_extractor)
    for key in keys:
        if key.startswith("diagnostics"):
            assert key.endswith(("Settings", "ImageTypes")) or ours[key] == theirs[key], key
            continue
        assert difference(key, ours[key], float(np.real(theirs[key])), ours) <= 1, key
        assert ours[key] == of_extractor[key], key


# --- Hostile input -----------------------------------------------------------------------------------------------------


def scene(shape=(17, 13, 11), labels=5):
    random = np.random.default_rng(7)
    return random.normal(0, 50, shape).astype(np.float32), random.integers(0, labels + 1, shape)


def test_table_has_the_columns_of_the_command():
    SimpleITK = pytest.importorskip("SimpleITK", reason="SimpleITK is not installed")
    x = np.random.default_rng(5).normal(100, 60, (7, 8, 9))
    mask = np.repeat([1, 2, 2, 0, 5, 5, 5], 72).reshape(x.shape)
    table = voxelmaps.region_features(x, mask)
    frame = table.to_dataframe("original")
    assert frame.index.tolist() == [1, 2, 5] and frame["voxels"].tolist() == [72, 144, 216]
    images = [SimpleITK.GetImageFromArray(each) for each in (x, mask.astype(np.uint8))]
    expected = radiomics.execute(*images, voxelBased=False, label=5, additionalInfo=False)
    # PyRadiomics has this one only if it is named.
    columns = frame.columns.drop(["voxels", "original_firstorder_StandardDeviation"])
    assert list(columns) == list(expected) and frame.loc[5, columns].tolist() == pytest.approx(
        [*expected.values()], rel=1e-9
    )
    assert [*table.to_dataframe().columns] == [*table][1:] and [*table][2:] == [
        name.removeprefix("original_") for name in frame.columns[1:]
    ]


def test_results_do_not_depend_on_threads_labels_and_types():
    x, mask = scene()
    table = voxelmaps.region_features(x, mask, threads=1)
    assert table["label"].tolist() == [1, 2, 3, 4, 5] and len(table) == 110
    huge = np.array([0, 2**62, 7, 10**6, 2**40, 3])[mask]
    order = [2, 5]
    for threads, given, label in (
        (2, mask, "all"),
        (7, mask.astype(np.float32), "all"),
        (0, np.asfortranarray(mask.astype(np.uint8)), [1, 2, 3, 4, 5]),
        (3, huge, [2**62, 7, 10**6, 2**40, 3]),
        (2, -mask.astype(np.int8), [-1, -2, -3, -4, -5]),
    ):
        other = voxelmaps.region_features(x, given, label=label, threads=threads)
        for name in list(table)[1:]:
            np.testing.assert_array_equal(other[name], table[name], err_msg=name)
    some = voxelmaps.region_features(x, mask, label=order)
    for name in table:
        np.testing.assert_array_equal(some[name], table[name][[1, 4]], err_msg=name)
    # A region alone in the image, cropped, and far from the origin.
    alone = voxelmaps.region_features(np.pad(x, 3)[2:, 1:], np.pad(np.where(mask == 4, 1, 0), 3)[2:, 1:])
    for name in list(table)[1:]:
        assert alone[name] == pytest.approx(table[name][[3]], rel=1e-13), name


def test_arrays_of_libraries_have_the_same_bits(library):  # noqa: F811
    x, mask = scene()
    for given, label, limits in (
        (mask, "all", {}),
        (mask.astype(np.float32), [5, 1], {"bin_edges": [-50.0, 0.0, 9.5, 40.0]}),
        (mask.astype(np.uint8), [2], {"intensity_range": (-60, 90)}),
        (mask > 2, "all", {}),
    ):
        expected = voxelmaps.region_features(x, given, label=label, device="cpu", **limits)
        found = voxelmaps.region_features(library(x), library(given), label=label, **limits)
        for name in expected:
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    with pytest.raises(ValueError, match="infinite at 1 voxel inside mask"):
        voxelmaps.region_features(library(np.where(x == x.max(), np.inf, x)), library(np.ones_like(mask)))


@needs_device
def test_devices_have_the_same_bits():
    random = np.random.default_rng(3)
    x = random.normal(0, 60, (40, 50, 60)).astype(np.float32)
    mask = np.kron(random.integers(0, 9, (8, 10, 12)), np.ones((5, 5, 5), int)).astype(np.int16)
    expected = voxelmaps.region_features(x, mask, device="cpu")
    for device in ("cuda", 0, None):
        found = voxelmaps.region_features(x, mask, device=device)
        for name in expected:
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_many_labels_and_levels():
    labels = np.arange(1, 65537).reshape(16, 64, 64)
    x = np.arange(labels.size, dtype=np.int32).reshape(labels.shape)
    features = ["firstorder_Mean", "glcm_Contrast", "shape_MeshVolume"]
    table = voxelmaps.region_features(x, labels, features=features, minimum_dimensions=0)
    assert table["firstorder_Mean"].tolist() == list(range(65536)) and np.isnan(table["glcm_Contrast"]).all()
    assert (table["shape_MeshVolume"] == table["shape_MeshVolume"][0]).all() and (table["voxels"] == 1).all()
    # One region with as many levels as voxels: matrices are lists.
    one = region(
        x,
        np.ones_like(x),
        features=["glcm_Contrast", "glszm", "gldm", "glrlm", "ngtdm_Coarseness"],
        largest_gray_level=None,
        bin_width=2,
    )
    assert one["glrlm_RunPercentage"] == (13 + 0) / 13 - 0.5 / 13 and one["glszm_ZonePercentage"] == 0.5
    # Along each direction, all voxels but those without a neighbor.
    contrasts = []
    for step in _feature_maps.neighbor_offsets((1,), x.shape):
        parts = [
            tuple(slice(max(s, 0), n + min(s, 0)) for s, n in zip(way, x.shape)) for way in (step, np.negative(step))
        ]
        contrasts.append(np.mean((x[parts[0]] // 2 - x[parts[1]] // 2.0) ** 2))
    assert one["glcm_Contrast"] == pytest.approx(np.mean(contrasts), rel=1e-13)


def test_limits_that_leave_out_most_of_a_region():
    x, mask = scene()
    x[mask == 3] += 1000
    for limits, effect in (
        ({"bin_edges": [600, 700]}, "absent"),
        ({"intensity_range": (600, 2000), "bin_count": 8}, "clamped"),
    ):
        with pytest.warns(UserWarning) as caught:
            voxelmaps.region_features(x, mask, features="glcm", **limits)
        texts = [str(each.message) for each in caught if "of the voxels with the label" in str(each.message)]
        assert [re.search(r"label (\d)", text)[1] for text in texts] == ["1", "2", "4", "5"]
        assert all(text.startswith("100% of") and text.endswith(f"are {effect}") for text in texts)
        with pytest.warns(UserWarning, match=f"of the voxels inside the mask are outside of {next(iter(limits))}"):
            voxelmaps.feature_maps(x, mask > 0, features="glcm_Id", neighborhood_radius=1, **limits)


def test_regions_that_are_too_small():
    """One rule for all: execute and the command have an error, and a table NaN."""
    x, mask = scene()
    mask[mask == 5] = mask[mask == 4] = 0
    mask[3, 3, 3], mask[5, 5, 5:7] = 4, 5
    with pytest.warns(UserWarning, match="^label 4, 5: the region is longer than one voxel along fewer than 2 axes"):
        table = voxelmaps.region_features(x, mask)
    assert np.isnan(np.array(list(table.values())[2:]))[:, 3:].all() and table["voxels"].tolist()[3:] == [1, 2]
    least = voxelmaps.region_features(x, mask, minimum_dimensions=1, features="firstorder_Mean", label=[4, 5])
    assert np.isnan(least["firstorder_Mean"]).tolist() == [True, False]
    image, labels = map(pyradiomics_oracle.to_simpleitk, (x, mask))
    for label in (4, 5):
        with pytest.raises(ValueError, match="setting minimumROIDimensions is 2, but the region of interest is longer"):
            radiomics.execute(image, labels, label=label, voxelBased=False)


def test_absent_voxels():
    x, mask = scene()
    x[mask == 2] = np.nan
    x[0, 0, :3], mask[0, 0, :3] = np.nan, 1
    with pytest.warns(UserWarning, match="image is NaN at .* voxels inside mask"):
        table = voxelmaps.region_features(x, mask)
    assert np.isnan(table["glcm_Contrast"]).tolist() == [False, True, False, False, False]
    assert not np.isnan(table["shape_Sphericity"]).any()
    present = voxelmaps.region_features(x, np.where(np.isnan(x), 0, mask), features=CLASSES, label=1)
    for name in list(present)[2:]:
        assert present[name][0] == table[name][0], name


def test_kinds_of_images(kind):  # noqa: F811
    parameters = {"features": ["glcm_Contrast", "shape_MeshVolume"], "bin_width": 7}
    expected = voxelmaps.region_features(X, LABELS, spacing=SPACING[::-1], **parameters)
    spacing = SPACING[::-1] if kind.name == "array" else None
    table = voxelmaps.region_features(kind(volume(X)), kind(volume(LABELS)), spacing=spacing, **parameters)
    assert table["label"].tolist() == [1, 2]
    # nibabel's arrays are x, y, z, so that sums have another order.
    for name in table:
        assert table[name] == pytest.approx(expected[name], rel=1e-12), name


# --- The command -------------------------------------------------------------------------------------------------------


def test_regions_of_a_table(run, tmp_path):
    write_case(tmp_path)
    (tmp_path / "cases.csv").write_text("image,mask,label\nimage.nii.gz,mask.nii.gz,all\nmissing.nii,mask.nii.gz,1\n")
    arguments = "regions --jobs cases.csv --out table.csv --features firstorder_Mean,shape_Sphericity".split()
    code, output, errors = run(*arguments)
    rows = rows_of(tmp_path / "table.csv")
    assert code == 1 and len(output) == len(rows) - 1 and "missing.nii does not exist" in rows[-1]["error"]
    # Each label is computed in its box.
    given = {"voxelBased": False, "featureClass": {"firstorder": ["Mean"], "shape": ["Sphericity"]}}
    for row in rows[:-1]:
        values = radiomics.execute(
            tmp_path / "image.nii.gz", tmp_path / "mask.nii.gz", label=int(row["label"]), **given
        )
        for name in ("original_firstorder_Mean", "original_shape_Sphericity"):
            assert float(row[name]) == values[name]
    columns = "image mask label voxels original_shape_Sphericity original_firstorder_Mean"
    assert list(rows[0])[:6] == columns.split()
    assert "would replace the table" in run("regions", "--jobs", "cases.csv", "--out", "cases.csv")[2][-1]
    # A later run keeps what is unchanged, even after one that was killed in a line.
    with open(tmp_path / "table.csv.jsonl", "a") as file:
        file.write('{"label": 1, "im')
    assert all("(kept)" in line for line in run(*arguments)[1])
    assert not any("(kept)" in line for line in run(*arguments, "--bin-width", "7")[1])
    assert all("(kept)" in line for line in run(*arguments, "--bin-width", "7")[1])
    assert rows_of(tmp_path / "table.csv")[0]["original_shape_Sphericity"] == rows[0]["original_shape_Sphericity"]
