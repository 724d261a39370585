"""Sphinx extension for what is computed when the site is built: the entries of the features, the tables of IBSI reference values,
and what code prints.

The pages in doc/features are the source of formulas, ranges and meanings. The build fails if a value of the worked example is not what
the package computes, or if a map leaves its range."""

import contextlib
import fractions
import io
import math
import re

import itk
import latex2mathml.converter
import numpy as np
import voxelmaps
from conf import ROOT
from docutils import nodes
from matplotlib.figure import Figure
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from voxelmaps import _core

# Page of doc/features: class in PyRadiomics, and name of the job, its tests and its table of published values.
CLASSES = {
    "first-order": ("firstorder", "FirstOrder"),
    "gray-level-cooccurrence": ("glcm", "Cooccurrence"),
    "gray-level-dependence": ("gldm", "Dependence"),
    "gray-level-size-zone": ("glszm", "SizeZone"),
    "run-length": ("glrlm", "RunLength"),
    "neighborhood-gray-tone-difference": ("ngtdm", "GrayToneDifference"),
}

# The window of the worked examples of all classes, with intensities of ten times its levels.
EXAMPLE = 10.0 * np.array([[5, 2, 5, 4, 4], [3, 3, 3, 1, 3], [2, 1, 1, 1, 3], [4, 2, 2, 2, 3], [3, 5, 3, 3, 2]])

PICTURES = ROOT / "build/site/features"


def names_in_pyradiomics(page, features):
    """A dict of PyRadiomics' names of features by names of any kind."""
    class_name = CLASSES[page][0]
    names = _core.feature_names()[class_name]
    return {feature: names[_core.find_feature(class_name, feature)] for feature in features}


# --- Features ----------------------------------------------------------------------------------------------------------


def read_features(text):
    """The rows of the table of features of a page; a test compares their names with those of the core."""
    rows = []
    for line in re.findall(r"^\| [A-Z0-9]+ \|.*$", text, flags=re.MULTILINE):
        abbreviation, feature, ibsi, formula, interval, meaning, *along_x, example = line[2:-2].split(" | ")
        rows.append((abbreviation, feature, ibsi, formula.strip("$"), interval, meaning, along_x, example))
    return rows


def value_of(text):
    return float(fractions.Fraction(text.replace("−", "-").replace(" ", "")))


def is_inside(values, interval):
    low, high = (float(end.replace("−", "-").replace("∞", "inf")) for end in interval[1:-1].split(", "))
    above = values >= low if interval[0] == "[" or math.isinf(low) else values > low
    below = values <= high if interval[-1] == "]" or math.isinf(high) else values < high
    return bool(np.all(above & below))


def draw_map(values, path):
    figure = Figure(figsize=(2.2, 2.2), layout="constrained")
    axes = figure.subplots()
    low, high = np.nanpercentile(values, [2, 98])
    shown = axes.imshow(values, cmap="viridis", vmin=low, vmax=high)
    axes.axis("off")
    bar = figure.colorbar(shown, ax=axes, orientation="horizontal", ticks=[low, high], fraction=0.06, pad=0.03)
    bar.ax.set_xticklabels([f"{low:.3g}", f"{high:.3g}"], fontsize=8)
    figure.savefig(path, dpi=110)


def entries(page, text):
    """An entry for each feature, in place of the table."""
    class_name, name = CLASSES[page]
    rows = read_features(text)
    names = [f"{class_name}_{row[1]}" for row in rows]
    example = voxelmaps.feature_maps(EXAMPLE, features=names, bin_width=10, precision="double")
    slice_of_head = itk.array_from_image(itk.imread(str(ROOT / "build/data/BrainT1Slice.png"), itk.UC)).astype(float)
    head = slice_of_head > slice_of_head.mean() / 2
    maps = voxelmaps.feature_maps(slice_of_head, selection=head, features=names, bin_count=32)
    PICTURES.mkdir(parents=True, exist_ok=True)
    lines = []
    for (abbreviation, feature, ibsi, formula, interval, meaning, along_x, expected), key in zip(rows, names):
        computed = float(example[key][2, 2])
        if not math.isclose(computed, value_of(expected), rel_tol=2e-6, abs_tol=6e-7):
            raise ExtensionError(f"{page}: the example of {feature} is {computed!r}, not {expected}")
        values = np.where(head, maps[key], np.nan)
        found = values[np.isfinite(values)]
        if not is_inside(np.append(found, np.float32(computed)), interval):
            raise ExtensionError(
                f"{page}: {feature} is from {found.min()} to {found.max()}, but its range is {interval}"
            )
        draw_map(values, PICTURES / f"{key}.png")
        fields = [
            ("Range", f"{interval}; from {found.min():.4g} to {found.max():.4g} in the picture".replace("-", "−")),
            (
                "Example",
                f"{computed:.6g}"
                + (f" = {expected}" if "/" in expected else "")
                + "".join(f"; {x} along x" for x in along_x),
            ),
            ("In Python", f'`features="{key}"`, abbreviation `{abbreviation}`'),
            ("PyRadiomics", f"`{class_name}`, `{feature}`"),
            ("IBSI", f"{ibsi} ([reference values](/doc/ibsi.md#{class_name}))" if ibsi.strip("– ") else "not defined"),
        ]
        lines += [
            f"### {feature}",
            "",
            "::::{grid} 1 2 2 2",
            ":class-container: feature",
            ":::{grid-item}",
            ":columns: 12 4 4 4",
            f"![Map of {feature} of a brain slice](/build/site/features/{key}.png)",
            ":::",
            ":::{grid-item}",
            ":columns: 12 8 8 8",
            "$$",
            formula,
            "$$",
            f"A greater value means {meaning[0].lower() if meaning[1:2].islower() else meaning[0]}{meaning[1:]}.",
            "",
            *(f":{field}: {value}" for field, value in fields),
            ":::",
            "::::",
            "",
        ]
    lines += [
        "### Tests",
        "",
        f"All features of this class are compared with an independent implementation on random images "
        f"([`{name}JobGTest.cxx`](/core/test/{name}JobGTest.cxx)), with the reference values of the IBSI "
        "([`itkPublishedValuesGTest.cxx`](/test/itkPublishedValuesGTest.cxx)), and with PyRadiomics "
        "([`test_radiomics.py`](/python/test/test_radiomics.py)). The values of the example and the ranges above were checked when "
        "this page was built.",
        "",
    ]
    return "\n".join(lines)


def add_entries(app, docname, source):
    page = docname.removeprefix("doc/features/")
    if page in CLASSES:
        table = re.search(r"^\| abbreviation \|.*?\n\n", source[0], flags=re.MULTILINE | re.DOTALL)[0]
        # The paragraphs between the table and the next heading introduce the features.
        before, after = source[0].split(table, 1)
        notes, heading, rest = after.partition("\n##")
        source[0] = before + notes + "\n\n" + entries(page, table) + heading + rest


# --- Output of code ----------------------------------------------------------------------------------------------------


def add_output(app, docname, source):
    """Run the code of a page, and add what each block prints."""
    if docname not in ("doc/faq", "doc/settings"):
        return
    names = {}

    def run(match):
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.chdir(ROOT / "build/site/inputs"):
            exec(compile(match[1], docname, "exec"), names)
        output = printed.getvalue()
        return match[0] + (f"\n\n```text\n{output}```" if output else "")

    source[0] = re.sub(r"^```python\n(.*?)^```", run, source[0], flags=re.MULTILINE | re.DOTALL)


# --- Reference values --------------------------------------------------------------------------------------------------


def phantom():
    """Image and mask of the IBSI's digital phantom."""
    text = (ROOT / "core/test/IbsiPhantom.h").read_text()
    arrays = []
    for name in ("phantomImage", "phantomMask"):
        numbers = re.sub(r"//.*", "", re.search(rf"{name}{{(.*?)}};", text, re.DOTALL)[1])
        arrays.append(np.array([float(number) for number in numbers.split(",")]).reshape(4, 4, 5))
    return arrays


def published(page):
    """Reference values by feature, from the tables of the tests: the last ones are those of volumes, averaged before merged."""
    _, name = CLASSES[page]
    text = (ROOT / "test/itkPublishedValuesGTest.cxx").read_text()
    table = re.search(rf"^const Rows {name[0].lower()}{name[1:]}{{$(.*?)^}};", text, re.DOTALL | re.MULTILINE)[1]
    rows = re.findall(r'{ "(\w+)", { ([^}]*) } }', table)
    return {feature: [float(value) for value in values.split(",")] for feature, values in rows}


def computed(page, features, aggregation):
    """The features of the phantom's region, by a window that contains all of it."""
    class_name, _ = CLASSES[page]
    image, mask = phantom()
    maps = voxelmaps.feature_maps(
        image,
        mask,
        features={class_name: features},
        largest_gray_level=6,
        window_size=[2 * n + 1 for n in image.shape],
        aggregation=aggregation,
        precision="double",
    )
    values = maps.array[:, mask != 0]
    if not np.array_equal(values, np.broadcast_to(values[:, :1], values.shape)):
        raise ExtensionError(f"the values of {class_name} differ between voxels of the phantom")
    return values[:, 0]


class IbsiTable(SphinxDirective):
    """Reference values of a class and what is computed for them: ```{ibsi-table} first-order```."""

    required_arguments = 1

    def run(self):
        page = self.arguments[0]
        references = published(page)
        aggregations = ("average", "merge") if CLASSES[page][0] in ("glcm", "glrlm") else (None,)
        shown = names_in_pyradiomics(page, references)
        lines = []
        for place, aggregation in enumerate(aggregations, -len(aggregations)):
            title = {"average": "feature, mean of directions", "merge": "feature, merged directions", None: "feature"}[
                aggregation
            ]
            lines += [f"| {title} | IBSI | VoxelMaps | difference |", "|---|---:|---:|---:|"]
            for feature, value in zip(references, computed(page, list(references), aggregation)):
                reference = references[feature][place]
                if float(f"{value:.3g}") != reference:
                    raise ExtensionError(f"{feature} of {page} is {value}, but the IBSI's value is {reference}")
                difference = f"{value - reference:+.2g}" if value != reference else "0"
                values_of_row = f"{reference:.3g} | {value:.7g} | {difference}".replace("-", "−")
                lines.append(f"| {shown[feature]} | {values_of_row} |")
            lines.append("")
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=False)


# --- Python API --------------------------------------------------------------------------------------------------------


def cpp_classes():
    """For each name of Python, the classes of C++ whose documentation links to it."""
    result = {}
    for header in sorted((ROOT / "include").glob("*.h")):
        for name, comment in re.findall(r"/\*\* \\class (\w+)(.*?)\*/", header.read_text(), flags=re.DOTALL):
            for python in re.findall(r"\\python{([\w.]+)}", comment):
                result.setdefault(python, []).append(name)
    return result


def links_to_classes(name):
    """A paragraph with links to Doxygen's pages of the classes of a name of Python; empty if there are none."""
    classes = cpp_classes().get(name, [])
    links = [f"`itk::{each} <../cpp/classitk_1_1{each}.html>`__" for each in classes]
    return ["", f"In C++: {', '.join(links)}", ""] if links else []


class Filters(SphinxDirective):
    """Entries of the functions of the package itk that the documentation of C++ links to."""

    def run(self):
        lines = []
        for name, classes in cpp_classes().items():
            if name.startswith("itk."):
                header = (ROOT / f"include/itk{classes[0]}.h").read_text()
                brief = re.search(r"\\brief (.*?)\n \* *\n", header, flags=re.DOTALL)[1].replace("\n * ", "\n")
                lines += [f".. py:function:: {name.removeprefix('itk.')}(image, **parameters)", "   :module: itk"]
                lines += [f"   {line}" for line in ("", *brief.splitlines(), *links_to_classes(name), "")]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=False)


def add_links(app, what, name, obj, options, lines):
    """Add the links to the classes of C++ at the end of a docstring."""
    lines += links_to_classes(name)


# --- Formulas ----------------------------------------------------------------------------------------------------------


def visit_math(translator, node):
    """Write MathML, which browsers draw without scripts and screen readers read."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    translator.body.append(latex2mathml.converter.convert(node.astext(), display=display))
    raise nodes.SkipNode


def setup(app):
    app.connect("source-read", add_entries)
    app.connect("source-read", add_output)
    app.connect("autodoc-process-docstring", add_links)
    app.add_directive("filters", Filters)
    app.add_directive("ibsi-table", IbsiTable)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
    return {"parallel_read_safe": False, "version": "1"}
