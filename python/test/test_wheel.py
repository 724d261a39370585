# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The contents and metadata of the installed wheel."""

import hashlib
import importlib.metadata
import json
import pathlib
import re
import struct

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "voxelmaps"
SOURCES = [*PACKAGE.glob("*.py"), *PACKAGE.glob("*.pyi")]


def test_files():
    """The wheel has all of the module, also if it was built in a folder that was used before, and nothing else."""
    wrapped = {path.stem for path in (ROOT / "wrapping").glob("*.wrap")}
    expected = {f"itk/{name}Python.py" for name in wrapped}
    expected |= {f"voxelmaps/{path.name}" for path in SOURCES}
    expected |= {"voxelmaps/_documentation.py", "voxelmaps/py.typed", "itk/voxelmaps/__init__.py"}
    expected |= {"voxelmaps/_core.abi3.so", "voxelmaps/_files.abi3.so"}
    expected |= {"itk/VoxelMapsPython.py", "itk/_VoxelMapsPython.abi3.so"}
    expected.add("../../../bin/TextureFeatureMaps")
    expected |= {"itk/Configuration/VoxelMapsConfig.py", "itk/Configuration/VoxelMaps_snake_case.py"}
    files = {str(path) for path in importlib.metadata.files("itk-voxelmaps")}
    # The core, once, under the name that auditwheel gives it.
    core = {f for f in files if re.fullmatch(r"itk_voxelmaps\.libs/libVoxelMapsCore-[0-9a-f]+\.so[0-9.]*", f)}
    assert len(core) == 1
    expected |= core
    assert {f for f in files if "dist-info" not in f and "__pycache__" not in f} == expected


def test_python_files_are_those_of_the_checkout():
    sources = {f"voxelmaps/{path.name}": path for path in SOURCES}
    sources["itk/voxelmaps/__init__.py"] = ROOT / "wrapping" / "itk_voxelmaps.py"
    for name, path in sources.items():
        installed = importlib.metadata.distribution("itk-voxelmaps").locate_file(name)
        assert pathlib.Path(installed).read_text() == path.read_text(), name


def test_metadata():
    metadata = importlib.metadata.metadata("itk-voxelmaps")
    version = re.search(r"project\(VoxelMaps VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert metadata["Version"] == version
    assert metadata["Requires-Python"] == ">=3.11"
    required = [r.replace(" ", "") for r in importlib.metadata.requires("itk-voxelmaps") if "extra" not in r]
    assert sorted(required) in (["itk-core<5.5,>=5.4", "numpy"], ["itk-core>=5.4,<5.5", "numpy"])
    assert set(metadata.get_all("Provides-Extra")) == {
        "dask",
        "examples",
        "filters",
        "pictures",
        "radiomics",
        "test",
        "xarray",
        "zarr",
    }


def sections_of(library):
    """Names of the sections of a library, by its ELF header; device code inside has sections of its own."""
    begin, size, number, names_at = struct.unpack_from("<40xQ10xHHH", library)
    headers = [struct.unpack_from("<I20xQ", library, begin + i * size) for i in range(number)]
    names = headers[names_at][1]
    return [library[names + name : library.index(0, names + name)].decode() for name, _ in headers]


def test_libraries_have_no_debug_symbols_and_no_folders():
    libraries = [path for path in importlib.metadata.files("itk-voxelmaps") if ".so" in path.suffixes]
    assert len(libraries) == 4
    for library in libraries:
        content = library.read_binary()
        sections = sections_of(content)
        assert ".dynsym" in sections and not [s for s in sections if s == ".symtab" or s.startswith(".debug")], library
        # Names of the sources in ITK's messages.
        assert not re.findall(rb"/build/wheel/itk[\w/.-]*", content)[:3], library


def test_bill_of_materials_and_licenses():
    """The bill has the hashes of the libraries and what they contain; each of these has its license in the wheel."""
    files = {str(path): path for path in importlib.metadata.files("itk-voxelmaps")}
    (text,) = (
        path.read_text() for name, path in files.items() if name.endswith("dist-info/sboms/itk_voxelmaps.cdx.json")
    )
    bill = json.loads(text)
    product = bill["metadata"]["component"]
    assert (bill["bomFormat"], product["version"]) == ("CycloneDX", importlib.metadata.version("itk-voxelmaps"))
    hashes = {file["name"]: file["hashes"][0]["content"] for file in product["components"]}
    libraries = {name: path.read_binary() for name, path in files.items() if ".so" in path.suffixes}
    assert hashes == {name: hashlib.sha256(content).hexdigest() for name, content in libraries.items()}

    versions = {part["name"]: part["version"] for part in bill["components"]}
    assert re.fullmatch(r"5\.4\.[0-9]+", versions["ITK"])
    expected = {"ITK", "VXL", "netlib", "KWSys", "double-conversion"}
    # What the device code of the core says of its compiler.
    (core,) = (content for name, content in libraries.items() if "libVoxelMapsCore" in name)
    cuda = re.search(rb"Cuda compilation tools, release ([0-9.]+),", core)
    if cuda:
        expected |= {"CUDA Runtime", "CCCL"}
        assert versions["CUDA Runtime"] == cuda.group(1).decode()
    assert set(versions) == expected
    assert all(re.match(r"(ITK-)?[0-9]+\.[0-9]+", version) for version in versions.values())
    licenses = {
        path.parent.name for path in files.values() if path.parent.parent.name == "licenses" and path.size > 400
    }
    assert licenses == {name.replace(" ", "-") for name in expected}
