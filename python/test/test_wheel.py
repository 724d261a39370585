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
"""The contents and metadata of the installed wheel."""

import importlib.metadata
import pathlib
import re

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
