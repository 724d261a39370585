# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""The texts of all errors and warnings of the package are those of one file, where they can be read one after the other.

python test_texts.py writes the file anew: read aloud what has changed.
"""

import ast
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "voxelmaps"
EXPECTED = pathlib.Path(__file__).resolve().with_name("texts.txt")
CALLS = ("warnings.warn", "parser.error", "sys.exit")


def text_of(node):
    """The text of an expression, with what is computed in braces, without numbers that its conversion has."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(value) for value in node.values)
    if isinstance(node, ast.FormattedValue):
        # Quotes inside are printed differently by versions of Python.
        return "{" + ast.unparse(node.value).replace('"', "'") + "}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left) + text_of(node.right)
    if isinstance(node, ast.IfExp):
        return f"[{text_of(node.body)} | {text_of(node.orelse)}]"
    return "{" + ast.unparse(node).replace('"', "'") + "}"


def texts():
    lines = []
    for path in sorted(PACKAGE.glob("*.py")):
        of_file = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            call = node.exc if isinstance(node, ast.Raise) else node
            is_text = isinstance(node, ast.Raise) or isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS
            if is_text and isinstance(call, ast.Call) and call.args:
                text = text_of(call.args[0])
                # Without what only passes a text on.
                if not (text.startswith("{") and text.find("}") == len(text) - 1):
                    of_file.add(text)
        lines += [f"--- {path.name}", *sorted(of_file)] if of_file else []
    return "\n".join(lines) + "\n"


def test_texts_are_those_that_were_read():
    assert texts().splitlines() == EXPECTED.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    EXPECTED.write_text(texts(), encoding="utf-8")
