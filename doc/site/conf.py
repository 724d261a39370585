"""Configuration of the site. scripts/build-site.sh builds it, from the top folder of the checkout as Sphinx's source folder."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "doc/site"), str(ROOT / "examples")]

project = "VoxelMaps"
author = "The VoxelMaps maintainers"
project_copyright = "NumFOCUS"
version = release = re.search(r"project\(VoxelMaps VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    "generated_pages",
]

root_doc = "doc/index"
include_patterns = [
    "doc/*.md",
    "doc/engines/*.md",
    "doc/features/*.md",
    "doc/gallery/*.rst",
    "benchmarks/README.md",
    "examples/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "packaging/slicer/README.md",
]
exclude_patterns = ["build*", "core", "test", "demo-output"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"VoxelMaps {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["extra", str(ROOT / "build/site/doxygen")]
html_copy_source = False
html_show_sourcelink = False
highlight_language = "text"
smartquotes = False
copybutton_exclude = ".linenos, .gp, .go"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False


sphinx_gallery_conf = {
    "examples_dirs": "build/site/gallery",
    "gallery_dirs": "doc/gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("gallery_runs.find_new_pictures",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}
