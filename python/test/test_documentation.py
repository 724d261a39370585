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
"""Runs all Python code blocks of the documentation, page by page."""

import pathlib
import re
import shutil

import itk
import numpy as np
import pytest
import voxelmaps

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "doc/labels.md", "doc/python.md", "doc/parameters.md", "doc/radiomics.md"]
PAGES_WITHOUT_CODE = [
    "doc/cohorts.md",
    "doc/texture-feature-maps.md",
    "examples/README.md",
    *(f"doc/features/{path.name}" for path in (ROOT / "doc/features").glob("*.md")),
]


@pytest.mark.parametrize("page", PAGES)
def test_code_of_the_documentation(page, data, tmp_path, monkeypatch, request):
    pytest.importorskip("xarray")

    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
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
        names.update(itk=itk, voxelmaps=voxelmaps, image=image, mask=array > array.mean())
        names["slice_of_uint8"] = array[31].astype(np.uint8)
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_links_of_the_documentation():
    for page in PAGES + PAGES_WITHOUT_CODE:
        folder = (ROOT / page).parent
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text()):
            assert (folder / link).exists(), f"{page}: {link}"
