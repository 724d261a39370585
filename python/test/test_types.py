# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""What type checkers see of the package: the names, annotations of all that is public, and a user's program."""

import ast
import graphlib
import importlib.util
import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest
import voxelmaps
from voxelmaps import _parameters

PACKAGE = pathlib.Path(voxelmaps.__file__).parent


def test_names_are_those_of_the_package():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            # Without "as", a name of a stub is not public.
            assert [alias.name for alias in node.names] == [alias.asname for alias in node.names]
            found.update((alias.name, node.module) for alias in node.names)
    assert found == {**voxelmaps._MODULES, **dict.fromkeys(voxelmaps._SUBMODULES)}
    assert set(found) == set(voxelmaps.__all__)
    assert "__version__: str" in ast.unparse(tree).splitlines()


def functions():
    """Public functions and methods in Python, by name."""
    modules = [voxelmaps, voxelmaps.radiomics]
    for name, value in [(f"{m.__name__}.{name}", getattr(m, name)) for m in modules for name in m.__all__]:
        if inspect.isfunction(value):
            yield name, value
        for member, of_class in vars(value).items() if inspect.isclass(value) else ():
            of_class = of_class.fget if isinstance(of_class, property) else of_class
            is_public = not member.startswith("_") or member in ("__init__", "__call__", "__getitem__", "__enter__")
            if inspect.isfunction(of_class) and is_public:
                yield f"{name}.{member}", of_class


def test_annotations_are_complete():
    names = []
    for name, function in functions():
        names.append(name)
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.name != "self"]
        missing = [parameter.name for parameter in own if parameter.annotation is parameter.empty]
        assert not missing and signature.return_annotation is not signature.empty, (name, missing)
    assert {"voxelmaps.feature_maps", "voxelmaps.SeedSession.update", "voxelmaps.radiomics.execute"} < set(names)


def test_parameters_are_those_of_the_tables():
    tree = ast.parse((PACKAGE / "_types.pyi").read_text("utf-8"))
    names = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}
            names[node.name].update(*(names.get(base.id, ()) for base in node.bases))
    for name, table in (
        ("FeatureMapsParameters", _parameters.FEATURE_MAPS),
        ("FuzzyConnectednessParameters", _parameters.FUZZY_CONNECTEDNESS),
        ("RegionFeaturesParameters", _parameters.REGION_FEATURES),
        ("ResampleParameters", _parameters.RESAMPLE),
        ("FilterImageParameters", _parameters.FILTER_IMAGE),
        ("LabelsAndStrength", _parameters.LABELS),
        ("SessionAndStrength", _parameters.SEED_SESSION),
        ("UpdateAndStrength", set(_parameters.SEED_SESSION) - set(_parameters.OF_IMAGES)),
    ):
        assert names[name] == set(table), name


def test_modules_have_no_circles():
    """Of what is imported at the top of modules, and in functions."""
    imports = {}
    for path in PACKAGE.rglob("*.py"):
        package, found = ".".join(path.parent.relative_to(PACKAGE.parent).parts), set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level > 0:
                base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
                modules = [f"{base}.{alias.name}" for alias in node.names]
                is_file = lambda module: PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py").exists()
                found.update(module if is_file(module) else base for module in modules)
        name = package if path.stem == "__init__" else f"{package}.{path.stem}"
        imports[name] = found - {name}
    # The error names a circle.
    graphlib.TopologicalSorter(imports).prepare()


# Lines that a type checker must refuse name a part of its message.
PROGRAM = """
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import voxelmaps

x = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6)
mask = x > 3

maps = voxelmaps.feature_maps(x, mask, features=["glcm_Contrast"], neighborhood_radius=1, bin_width=np.float32(3))
assert_type(maps, voxelmaps.FeatureMaps)
assert_type(list(maps), list[str])
assert_type(maps["glcm_Contrast"], npt.NDArray[Any])
assert_type(maps[["glcm_Contrast"]], voxelmaps.FeatureMaps)
assert_type(voxelmaps.read_maps(maps.save("maps")[0]).array, npt.NDArray[Any])
assert_type(maps["glcm_Contrast"].mean(axis=0), Any)
assert_type(maps.slices, tuple[slice, ...])
given = {"glcm": None, "ngtdm": ["Busyness"]}
voxelmaps.feature_maps(x, features=given, intensity_range=(1, 2.5), bin_width=0.5, window_size=(3, np.int64(1), 3))
voxelmaps.feature_maps([[1, 2], [3, 4]], features="glcm_Contrast", distances=[1, 2], spacing=np.ones(2), device="cpu")
assert_type(voxelmaps.FeatureMapsd("ct", features=["glcm"])({"ct": x[None]}), dict[Any, Any])

seeds = {1: (0, 0, 0), 2: [(3, 4, 5)], 3: np.zeros((1, 3), int) + 2}
result = voxelmaps.labels(x, seeds, mask | True, affinity="minimum", competition="relative",
    object_mean={1: 3, 2: 40.0, 3: 9}, object_variance=4, difference_variance=1)
assert_type(result, npt.NDArray[Any])
strength = voxelmaps.fuzzy_connectedness(x, (0, 0, 0), adjacency="full", out=np.empty(x.shape, np.float32), progress=print)
assert_type(strength, npt.NDArray[Any])
assert_type(voxelmaps.labels(x, seeds, strength=True), voxelmaps.Segmentation[Any])
assert_type(voxelmaps.labels(x, seeds, margin=True), voxelmaps.Segmentation[Any])
ct = voxelmaps.sample_ct((32, 32, 16))
image_of_labels = voxelmaps.labels(ct.image, ct.strokes, affinity="absolute_difference", tie_rule="lowest_label")
assert_type(image_of_labels.spacing, tuple[float, ...] | None)
table = voxelmaps.region_features(x, result, features="firstorder", label={1, 2})
assert_type(table, voxelmaps.RegionFeatures)
assert_type(table["voxels"], npt.NDArray[Any])
assert_type(voxelmaps.resample(x, spacing=0.5, interpolation="linear"), npt.NDArray[Any])
with voxelmaps.SeedSession(x, label_type=np.uint8, crop_to_seeds=True, crop_margin=(1, 2, 3)) as session:
    assert_type(session, voxelmaps.SeedSession)
    assert_type(session.update({1: (0, 0, 0), 2: [(3, 4, 5)]}, tie_rule="lowest_label"), npt.NDArray[Any])
    assert_type(session.update(seeds, strength=True), voxelmaps.Segmentation[Any])
    assert_type(session.affinity, dict[str, Any])
    assert_type(session.memory, int)

limits = voxelmaps.map_limits([(maps, mask)], percentiles=(5, 95))
assert_type(limits, dict[str, tuple[float, float]])
voxelmaps.show(x, maps, mask, 2, spacing=(5, 1, 1), limits=limits, unit="HU").savefig("maps.png", dpi=50)

for series in voxelmaps.list_dicom_series("."):
    assert_type(series.files, tuple[str, ...])
    assert_type(series.spacing, tuple[float, float, float] | None)
assert_type(voxelmaps.__version__, str)


def wrong() -> None:
    voxelmaps.feature_maps(x)  # No overload variant of "feature_maps"
    voxelmaps.feature_maps(x, features="glcm", radius=2)  # Unexpected keyword argument "radius" .* did you mean "radius_mm"
    voxelmaps.feature_maps(x, features="glcm", neighborhood_radius="2")  # incompatible type "str"
    voxelmaps.labels(x, seeds, competition="best")  # No overload variant of "labels"
    voxelmaps.feature_maps(x, features="glcm", precision="half")  # No overload variant
    voxelmaps.feature_maps(x, features=3)  # No overload variant
    voxelmaps.labels(x, seed_points=[(1, 2)])  # No overload variant
    voxelmaps.fuzzy_connectedness(x, (0, 0, 0), affinity="mean")  # No overload variant
    voxelmaps.SeedSession(x, rule="lowest_label")  # Unexpected keyword argument "rule"
    session.update(x, minimum_strength="0.5")  # No overload variant of "update"
    voxelmaps.read_dicom_series("ct", allow_uneven=True)  # Unexpected keyword argument "allow_uneven"
    voxelmaps.show(x, maps, mask, unit=3)  # "unit" .* incompatible type "int"
    voxelmaps.check_image_file(3)  # incompatible type "int"
    voxelmaps.radiomics.execute(x, x, precision="half")  # "precision" .* incompatible type
    voxelmaps.nothing  # Module has no attribute "nothing"
    maps["glcm_Contrast"] = x  # Unsupported target for indexed assignment
"""


def test_a_program(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed: pip install mypy")
    pytest.importorskip("matplotlib")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    # What it does is also what it says.
    done = subprocess.run([sys.executable, path.name], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", path.name]
    environment = dict(os.environ, MYPY_CACHE_DIR=str(tmp_path / "cache"))
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    found = {}
    for number, message in re.findall(r"^program\.py:(\d+): error: (.*)$", done.stdout, flags=re.MULTILINE):
        found.setdefault(int(number), []).append(message)
    lines = enumerate(PROGRAM.splitlines(), start=1)
    expected = {number: line.partition("  # ")[2] for number, line in lines if "  # " in line}
    assert sorted(found) == sorted(expected), done.stdout + done.stderr
    for number, message in expected.items():
        assert any(re.search(message, each) for each in found[number]), found[number]
