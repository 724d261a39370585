"""Complete Doxygen's pages: mathml.py FOLDER. Formulas become MathML, which browsers draw without scripts, instead of MathJax, which
they would load from the network. Landmarks and names serve screen readers."""

import html
import pathlib
import re
import sys

import latex2mathml.converter

# What Doxygen 1.9 leaves out.
ATTRIBUTES = {
    '<html xmlns="http://www.w3.org/1999/xhtml">': '<html xmlns="http://www.w3.org/1999/xhtml" lang="en-US">',
    '<div class="contents">': '<div class="contents" role="main">',
    '<div class="title">': '<div class="title" role="heading" aria-level="1">',
    ' id="MSearchField"': ' id="MSearchField" aria-label="Search"',
}
FORMULA = re.compile(r"\\\((.*?)\\\)|\\\[(.*?)\\\]", re.DOTALL)


def mathml(match):
    display = "inline" if match[2] is None else "block"
    return latex2mathml.converter.convert(html.unescape(match[1] or match[2]), display=display)


for page in pathlib.Path(sys.argv[1]).rglob("*.html"):
    text = page.read_text()
    text = re.sub(
        r'<script type="text/x-mathjax-config">.*?</script>\s*<script [^>]*MathJax[^>]*></script>\s*',
        "",
        text,
        flags=re.DOTALL,
    )
    for before, after in ATTRIBUTES.items():
        text = text.replace(before, after)
    # Code has no formulas.
    parts = re.split(r'(<div class="fragment">.*?</div><!-- fragment -->)', text, flags=re.DOTALL)
    parts[::2] = (FORMULA.sub(mathml, part) for part in parts[::2])
    page.write_text("".join(parts))
