# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The contents and metadata of the installed wheels: voxelmaps, with the core, and itk-voxelmaps, with the filters."""

import ast
import hashlib
import importlib.metadata
import json
import pathlib
import re
import struct

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "voxelmaps"
SOURCES = [path for kind in ("py", "pyi", "yaml") for path in PACKAGE.rglob(f"*.{kind}")]
CORE = "voxelmaps/libVoxelMapsCore.so.0.3"
WHEELS = ["voxelmaps", "itk-voxelmaps"]


def files_of(wheel):
    try:
        distribution = importlib.metadata.distribution(wheel)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{wheel} is not installed")
    if '"editable": true' in (distribution.read_text("direct_url.json") or ""):
        pytest.skip(f"{wheel} is an editable installation")
    return {str(path): path for path in distribution.files if "__pycache__" not in str(path)}


def libraries_of(wheel):
    return {name: path.read_binary() for name, path in files_of(wheel).items() if ".so" in path.suffixes}


def without_docstrings(text):
    """The program, and its docstrings."""
    tree, docstrings = ast.parse(text), []
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.Module)) and ast.get_docstring(node):
            docstrings.append(ast.get_docstring(node))
            node.body[0] = ast.Pass()
    return ast.dump(tree), docstrings


def test_files():
    """The wheels have all of their parts, also if they were built in a folder that was used before, and nothing else."""
    files = files_of("voxelmaps")
    expected = {f"voxelmaps/{path.relative_to(PACKAGE)}": path for path in SOURCES}
    for name, path in expected.items():
        texts = files[name].read_text("utf-8"), path.read_text("utf-8")
        if texts[0] != texts[1]:
            programs, docstrings = zip(*map(without_docstrings, texts))
            assert programs[0] == programs[1], name
            # Parameters that are described elsewhere are inserted.
            for installed, ours in zip(*docstrings):
                assert installed == ours or "**parameters" in ours and len(installed) > len(ours), name
    expected = {*expected, CORE, "voxelmaps/_core.abi3.so", "voxelmaps/py.typed"}
    data = [PACKAGE / "_ibsi/reference_values.csv", *(PACKAGE / "_ibsi/phantoms").iterdir()]
    expected |= {f"voxelmaps/{path.relative_to(PACKAGE)}" for path in data}
    expected |= {f"voxelmaps/napari/features/{path.name}" for path in (ROOT / "doc/features").glob("*.md")}
    expected.update({"../../../bin/TextureFeatureMaps", "../../../bin/voxelmaps"})
    assert {name for name in files if "dist-info" not in name} == expected


def test_files_of_the_filters():
    expected = {f"itk/{path.stem}Python.py" for path in (ROOT / "wrapping").glob("*.wrap")}
    expected |= {"itk/VoxelMapsPython.py", "itk/_VoxelMapsPython.abi3.so"}
    expected |= {"itk/Configuration/VoxelMapsConfig.py", "itk/Configuration/VoxelMaps_snake_case.py"}
    # No engine is installed twice.
    assert {name for name in files_of("itk-voxelmaps") if "dist-info" not in name} == expected


def test_metadata():
    version = re.search(r"project\(VoxelMaps VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text("utf-8")).group(1)
    required = {"voxelmaps": {"numpy"}, "itk-voxelmaps": {"itk-core", f"voxelmaps=={version}"}}
    for wheel in WHEELS:
        files_of(wheel)
        metadata = importlib.metadata.metadata(wheel)
        assert (metadata["Version"], metadata["Requires-Python"]) == (version, ">=3.11")
        needed = {r.replace(" ", "") for r in importlib.metadata.requires(wheel) if "extra" not in r}
        assert {name.partition("<")[0].partition(">")[0] for name in needed} == required[wheel]
    extras = {"all", "dask", "examples", "files", "itk", "napari", "pictures", "progress", "radiomics", "test"}
    assert set(importlib.metadata.metadata("voxelmaps").get_all("Provides-Extra")) == extras


def sections_of(library):
    """Names of the sections of a library, by its ELF header; device code inside has sections of its own."""
    begin, size, number, names_at = struct.unpack_from("<40xQ10xHHH", library)
    headers = [struct.unpack_from("<I20xQ", library, begin + i * size) for i in range(number)]
    names = headers[names_at][1]
    return [library[names + name : library.index(0, names + name)].decode() for name, _ in headers]


@pytest.mark.parametrize("wheel", WHEELS)
def test_libraries_have_no_debug_symbols_and_no_folders(wheel):
    libraries = libraries_of(wheel)
    assert len(libraries) == {"voxelmaps": 2, "itk-voxelmaps": 1}[wheel]
    for name, content in libraries.items():
        sections = sections_of(content)
        assert ".dynsym" in sections and not [s for s in sections if s == ".symtab" or s.startswith(".debug")], name
        # Names of the sources in messages, and search paths.
        assert not re.findall(rb"/build/(?:itk-)?wheel/[\w/.-]*|/build/core[\w/.-]*", content)[:3], name


@pytest.mark.parametrize("wheel", WHEELS)
def test_bill_of_materials_and_licenses(wheel):
    """The bill has the hashes of the libraries and what they contain; each of these has its license in the wheel."""
    files, libraries = files_of(wheel), libraries_of(wheel)
    bill_name = f"sboms/{wheel.replace('-', '_')}.cdx.json"
    texts = [path.read_text("utf-8") for name, path in files.items() if name.endswith(bill_name)]
    if not texts:
        pytest.skip("compiled by pip, without scripts/build-wheel.sh")
    bill = json.loads(texts[0])
    product = bill["metadata"]["component"]
    assert (bill["bomFormat"], product["version"]) == ("CycloneDX", importlib.metadata.version(wheel))
    hashes = {file["name"]: file["hashes"][0]["content"] for file in product["components"]}
    assert hashes == {name: hashlib.sha256(content).hexdigest() for name, content in libraries.items()}

    versions = {part["name"]: part["version"] for part in bill["components"]}
    expected = set()
    if wheel == "itk-voxelmaps":
        assert re.fullmatch(r"5\.4\.[0-9]+", versions["ITK"])
        expected = {"ITK", "VXL", "netlib", "KWSys", "double-conversion"}
    # What the device code of the core says of its compiler.
    cuda = re.search(rb"Cuda compilation tools, release ([0-9.]+),", libraries.get(CORE, b""))
    if cuda:
        expected.add("CUDA Runtime")
        assert versions["CUDA Runtime"] == cuda.group(1).decode()
    # The CUDA runtime finds kernels, such as those of CUB, by their names.
    if b"N3cub" in libraries.get(CORE, b""):
        expected.add("CCCL")
    assert set(versions) == expected
    assert all(re.match(r"(ITK-)?[0-9]+\.[0-9]+", version) for version in versions.values())
    licenses = {
        path.parent.name for path in files.values() if path.parent.parent.name == "licenses" and path.size > 400
    }
    assert licenses == {name.replace(" ", "-") for name in expected}
