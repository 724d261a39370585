# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Runs all Python code blocks of the documentation and the examples of docstrings, and checks links."""

import doctest
import importlib
import inspect
import pathlib
import re
import shutil
import tomllib

import itk
import pytest
import voxelmaps
from voxelmaps._parameters import documented

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


def test_links_of_the_documentation():
    for page in ALL_PAGES:
        folder = (ROOT / page).parent
        text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (folder / link).exists(), f"{page}: {link}"


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
            kind = documented(value.__doc__).get(parameter.name, ("", ""))[1] or ""
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
