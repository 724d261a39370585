"""Turn the formulas of Doxygen's pages into MathML, which browsers draw without scripts, and drop the script MathJax, which they
would load from the network: mathml.py FOLDER."""

import html
import pathlib
import re
import sys

import latex2mathml.converter

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
    # Code has no formulas.
    parts = re.split(r'(<div class="fragment">.*?</div><!-- fragment -->)', text, flags=re.DOTALL)
    parts[::2] = (FORMULA.sub(mathml, part) for part in parts[::2])
    page.write_text("".join(parts))
