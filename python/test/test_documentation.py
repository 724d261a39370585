# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Runs all Python code blocks of the documentation and the examples of docstrings, and checks links and tables."""

import doctest
import importlib
import inspect
import itertools
import json
import math
import pathlib
import re
import shutil
import tomllib

import numpy as np
import pytest
import voxelmaps
from array_libraries import itk
from voxelmaps import _cli, _core, _parameters
from voxelmaps._files import layouts
from voxelmaps.radiomics import _filters, _settings

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALL_PAGES = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("*.md", "doc/**/*.md", "benchmarks/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)
PAGES = [page for page in ALL_PAGES if "\n```python\n" in (ROOT / page).read_text("utf-8")]


# Whoever follows a page meets no warning.
@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("page", PAGES)
def test_code_of_the_documentation(page, data, tmp_path, monkeypatch, request):
    pytest.importorskip("xarray")

    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert blocks
    shutil.copy(data / "KmeansTest_T1UCharRaw.nii.gz", tmp_path / "head.nii.gz")
    if any("ct-series" in block for block in blocks):
        folder, _ = request.getfixturevalue("ct_series")
        shutil.copytree(folder, tmp_path / "ct-series")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page}
    if page == "doc/parameters.md":
        # This page is about parameters and does not read images.
        image = itk.imread("head.nii.gz")
        array = itk.array_from_image(image)
        names.update(voxelmaps=voxelmaps, image=image, mask=array > array.mean())
    for block in blocks:
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("page", ALL_PAGES)
def test_links_of_the_documentation(page):
    folder = (ROOT / page).parent
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (folder / link).exists(), link


# --- Tables ------------------------------------------------------------------------------------------------------------


def rows_of_table(page, header):
    """The rows of the tables of a page whose header begins so, as lists of cells."""
    text = (ROOT / page).read_text("utf-8")
    tables = re.findall(rf"^\| {re.escape(header)} ?\|.*\n\|[-:|]+\|\n((?:\|.*\n)+)", text, flags=re.MULTILINE)
    assert tables, f"{page} has no table {header}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for table in tables for line in table.splitlines()]


def test_tables_of_names():
    """Tables list what the code has, and nothing else."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    presets = json.loads((ROOT / "CMakePresets.json").read_text("utf-8"))["configurePresets"]
    for page, header, expected in (
        ("doc/python.md", "extra", extras),
        ("doc/command.md", "`--format`", layouts.FORMATS),
        ("doc/radiomics.md", "class", _core.feature_names()),
        ("doc/radiomics.md", "`imageType`", _filters.IMAGE_TYPES),
        ("doc/labels.md", "parameter | value", ["competition", "tie_rule"]),
        ("CONTRIBUTING.md", "preset", [preset["name"] for preset in presets if not preset.get("hidden")]),
    ):
        names = [name for row in rows_of_table(page, header) for name in re.findall(r"`([^`]*)`", row[0])]
        assert sorted(names) == sorted(expected), (page, header)
    files = [path for pattern in ("CMakeLists.txt", "*/CMakeLists.txt", "cmake/*.cmake") for path in ROOT.glob(pattern)]
    cmake = "".join(path.read_text("utf-8") for path in files)
    for option, *_ in rows_of_table("doc/cpp.md", "option"):
        assert option.startswith("`CMAKE_") or re.search(rf"\b{option[1:-1]}\b", cmake), option
    values = [row[1].strip('`"') for row in rows_of_table("doc/labels.md", "parameter | value")]
    assert values == [*_parameters.COMPETITIONS, *_parameters.TIE_RULES]
    members = " ".join(row[0] for row in rows_of_table("doc/labels.md", "")).partition("` ")[2]
    members = re.findall(r"`(\w+)", members)
    assert sorted(members) == [name for name in dir(voxelmaps.SeedSession) if not name.startswith("_")]
    documented = re.findall(r"^\.\. auto\w+:: (\w+)$", (ROOT / "doc/api.md").read_text("utf-8"), flags=re.MULTILINE)
    assert sorted(documented) == sorted(name for names in DOCUMENTED.values() for name in names)


def test_table_of_settings():
    """All settings of voxelmaps.radiomics with their defaults."""
    words = {"none": None, "true": True, "false": False, "[1]": [1]}
    documented = {}
    for row in rows_of_table("doc/radiomics.md", "key (default)"):
        for name, default in re.findall(r"`(\w+)` \((.*?)\)(?:, |$)", row[0]):
            documented[name] = words.get(default, int(default) if default.isdecimal() else default)
    defaults = {name: setting.default for name, setting in _settings.SETTINGS.items()}
    # None is SimpleITK's tolerance, and no values are none.
    assert documented == {**defaults, "geometryTolerance": "10⁻⁶", "sigma": None}


def test_lists_of_features():
    """Pages have the names and identifiers of features.def, and the documentation of each filter has its features."""
    text = (ROOT / "core/include/voxelmaps/features.def").read_text("utf-8")
    lists = dict(re.findall(r"#define VOXELMAPS_(\w+)_FEATURES\(feature\)((?:.*\\\n)+.*)", text))
    for title, name, _ in rows_of_table("doc/features/README.md", "class"):
        page = "doc/features/" + re.search(r"\((.*)\)", title)[1]
        class_name = re.search(r"`(firstorder|gl\w+|ngtdm|shape)`", (ROOT / page).read_text("utf-8"))[1]
        rows = [row.replace('"', "").split(", ") for row in re.findall(r"feature\((.*)\)", lists[class_name.upper()])]
        documented = rows_of_table(page, "abbreviation")
        if class_name == "shape":
            cells = [itertools.zip_longest(row[0].split(", "), row[2].split(", "), fillvalue="–") for row in documented]
            assert dict(itertools.chain(*cells)) == {row[1]: row[4] or "–" for row in rows}
            continue
        documented = {row[0]: row[1:] for row in documented}
        assert sorted(documented) == sorted(row[1] for row in rows)
        header = (ROOT / f"include/itk{name[1:-1]}.h").read_text("utf-8")
        for feature, abbreviation, pyradiomics, ibsi, identifier, *second in rows:
            assert documented[abbreviation][0] == (pyradiomics or feature)
            cell = re.sub("[ -]", "_", documented[abbreviation][1])
            assert f"{ibsi},_{identifier}" in cell if identifier else cell in ("", "–"), (page, feature)
            assert all(each in cell for each in second), (page, feature)
            assert re.search(rf"\b({feature}|{abbreviation})\b", header), (name, feature)


def test_tables_of_features():
    """Numbers of features of every class, and abbreviations in the tables of parameters."""
    numbers = {name: len(features) for name, features in _core.feature_names().items()}
    classes = {}
    for title, _, features in rows_of_table("doc/features/README.md", "class"):
        page = re.search(r"\((.*)\)", title)[1]
        text = (ROOT / "doc/features" / page).read_text("utf-8")
        classes[page] = re.search(r"`(firstorder|gl\w+|ngtdm|shape)`", text)[1]
        counts = [numbers[classes[page]]] + [numbers["shape2D"]] * (page == "shape.md")
        assert [int(number) for number in re.findall(r"\b\d+\b", features)] == counts, title
    for row in rows_of_table("doc/parameters.md", "parameter"):
        if row[0].endswith("`Features`"):
            names = re.search(r"any of ([A-Z0-9 ]+),", row[1])[1]
            page = re.search(r"features/(.*?)\)", row[1] + "(features/run-length.md)")[1]
            found = [_core.find_feature(classes[page], name) for name in names.split()]
            assert sorted(found) == list(range(numbers[classes[page]])), page
    for names, features, _ in rows_of_table("doc/radiomics.md", "class"):
        counts = [numbers[name] for name in re.findall(r"`(\w+)`", names)]
        # PyRadiomics does not compute StandardDeviation by default.
        counts[0] -= names == "`firstorder`"
        assert [int(number) for number in re.findall(r"\b\d+\b", features.split(";")[0])] == counts, names


def test_tables_of_parameters():
    """Names in tables are setters of the filters, and keywords of voxelmaps.feature_maps."""
    headers = "".join(path.read_text("utf-8") for path in (ROOT / "include").glob("*.h"))
    setters = set(re.findall(r"\b(?:Set|Add|Clear)(\w+)\(|Macro\([\s\\]*(\w+)[,)]", headers))
    setters = {name for names in setters for name in names if name}
    for row in rows_of_table("doc/parameters.md", "parameter"):
        for name in re.findall(r"`(?:Set|Add|Clear)?([A-Z]\w+)(?:\(.*?\))?`", row[0]):
            assert name in setters, name
    keywords = inspect.signature(voxelmaps.feature_maps).parameters
    for page, header in (
        ("doc/settings.md", "setting"),
        ("doc/parameters.md", "modality"),
        ("doc/parameters.md", "PyRadiomics"),
    ):
        names = re.findall(r"`(\w+)=", str(rows_of_table(page, header)))
        assert names and set(names) <= set(keywords), (page, header)


def test_options_of_the_command():
    """The page lists all commands, and the options of the examples exist."""
    commands = [row[0].split()[1] for row in rows_of_table("doc/command.md", "command")]
    assert sorted(commands) == sorted(_cli._COMMANDS)
    calls = [
        call for page in ALL_PAGES for call in re.findall(r"\bvoxelmaps (\w+) (.*)", (ROOT / page).read_text("utf-8"))
    ]
    calls = [(command, line) for command, line in calls if command in commands]
    for command in commands:
        options = [option for name, line in calls if name == command for option in re.findall(r" (--[\w-]+)", line)]
        assert set(options) <= set(_cli._parser(command).commands[command]._option_string_actions), command
    assert len(calls) > 20


def test_table_of_ibsi():
    """It has all tags, the identifiers of features.def, and names and formulas with the values of region_features."""
    rows = [[cell.strip("` ") for cell in row] for row in rows_of_table("doc/ibsi.md", "tag")]
    text = (ROOT / "core/include/voxelmaps/features.def").read_text("utf-8")
    identifiers = {}
    for name, lines in re.findall(r"#define VOXELMAPS_(\w+)_FEATURES\(feature\)((?:.*\\\n)+.*)", text):
        for feature, other, code in re.findall(r'feature\((\w+), "\w+", "(\w*)", "\w*", "(\w*)"', lines):
            identifiers[f"{name.lower()}_{other or feature}"] = code
    levels = np.random.default_rng(7).integers(1, 10, (6, 7, 8))
    levels[:3, :2] = 0
    image, mask, spacing = np.round(levels * 7.3 + 5, 1), levels != 0, (2.5, 1.0, 1.5)
    limits = {"intensity_range": (13, 69), "bin_width": 6.5}
    used = mask & (image >= 13) & (image <= 69)
    texture = ["firstorder", "glcm", "glrlm", "glszm", "gldm", "ngtdm"]
    tags, used_rows = set(), set()
    for suffixes, parameters in (
        (("_3D_avg", "_3D"), {}),
        (("_3D_comb",), {"aggregation": "merge"}),
        (("_2_5D_avg", "_2_5D"), {"plane_axis": 0}),
        (("_2_5D_comb",), {"plane_axis": 0, "aggregation": "merge"}),
    ):
        ours = {"sqrt": math.sqrt}
        chosen = {**limits, "intensity_range": (13, image[used].max()), **parameters}
        for region, classes, keywords in ((mask, "shape", {}), (used, texture, chosen)):
            table = voxelmaps.region_features(image, region, label=1, features=classes, spacing=spacing, **keywords)
            ours.update((key, float(column[0])) for key, column in table.items() if "_" in key)
        theirs = voxelmaps.ibsi_features(image, mask, spacing=spacing, aggregations=suffixes[0][1:], **limits)
        for tag, _, formula in rows:
            found = [suffix for suffix in ("", *suffixes) if f"{tag}{suffix}" in theirs]
            tags.update(f"{tag}{suffix}" for suffix in found)
            used_rows.update([tag] if found else [])
            for suffix in found if formula else ():
                ours["n"] = np.count_nonzero(mask if tag.startswith("morph") else used)
                assert theirs[f"{tag}{suffix}"] == pytest.approx(eval(formula, {}, ours), rel=1e-9, abs=1e-12), tag
        assert theirs.keys() <= tags
    assert len(rows) == len(used_rows) == 169
    # Two features are equal to others, which have identifiers of their own.
    names = {name: code for tag, code, name in rows if tag not in ("cm_sum_var", "cm_dissimilarity")}
    assert all(identifiers[name] == code for name, code in names.items() if name in identifiers)
    assert len(identifiers.keys() & names.keys()) == 98


# --- Examples of docstrings --------------------------------------------------------------------------------------------

# Module -> names that must have an example.
DOCUMENTED = {
    "voxelmaps": [*voxelmaps._MODULES],
    "voxelmaps.radiomics": [*voxelmaps.radiomics.__all__, "RadiomicsFeatureExtractor"],
}
# Libraries that examples need, in addition to those that they import.
LIBRARIES = {
    "RadiomicsFeatureExtractor": "radiomics",
    "execute": "SimpleITK",
    "read_image": "SimpleITK",
    "read_maps": "SimpleITK",
    "show": "matplotlib",
}


def public_objects():
    """Names of what is public, with the members of classes."""
    for module, names in DOCUMENTED.items():
        for name in names:
            value = getattr(importlib.import_module(module), name)
            yield f"{module}.{name}"
            for member, of_class in vars(value).items() if inspect.isclass(value) else ():
                if not member.startswith("_") and (inspect.isfunction(of_class) or isinstance(of_class, property)):
                    yield f"{module}.{name}.{member}"


def test_docstrings_are_numpydoc():
    """Pages, help() and editors read them; parameters that are inserted are there, too, with the defaults of the signature."""
    validate = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed: pip install numpydoc")
    pytest.importorskip("radiomics")
    ignored = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["numpydoc_validation"]["checks"]
    found = {}
    for name in public_objects():
        result = validate.validate(name)
        errors = [f"{code}: {text}" for code, text in result["errors"] if code not in ignored]
        value = validate.Validator._load_obj(name)
        for parameter in inspect.signature(value).parameters.values() if callable(value) else ():
            kind = _parameters.documented(value.__doc__).get(parameter.name, ("", ""))[1] or ""
            shown = re.search("default (.*)", kind)
            shown = shown and shown[1].strip('"')
            if parameter.default not in (None, parameter.empty, ...) and not repr(parameter.default).startswith(
                "<unch"
            ):
                given = parameter.default
                given = given[0] if given == (1,) else given
                if shown is None or shown != f"{given:g}" if isinstance(given, float) else shown != str(given):
                    errors.append(f"{parameter.name} has the default {given}, but the docstring {shown}")
        if errors:
            found[name] = errors
    assert not found


# Copied by a user, an example needs no other names, and gives no warning.
@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("module, name", [(module, name) for module, names in DOCUMENTED.items() for name in names])
def test_examples_of_docstrings(module, name, tmp_path, monkeypatch):
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    value = getattr(importlib.import_module(module), name)
    # The members of a class have examples where useful.
    tests = [test for test in doctest.DocTestFinder().find(value, name, module=False, globs={}) if test.examples]
    assert name in [test.name for test in tests], f"{module}.{name} has no example"
    for test in tests:
        folder = tmp_path / test.name
        folder.mkdir()
        monkeypatch.chdir(folder)
        printed = []
        failed, _ = doctest.DocTestRunner().run(test, out=printed.append)
        if failed:
            pytest.fail("".join(printed), pytrace=False)
