# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Write the Python documentation of the filters from that of the C++ classes.

Usage: make_documentation.py FOLDER_OF_HEADERS REFERENCES OUTPUT CLASS...

REFERENCES is the BibTeX file of the keys that the headers cite. The output is a module with DOCUMENTATION: for each class
and its Cuda class, its text, the text of each parameter, and the references that it cites.
"""

import pathlib
import pprint
import re
import sys
import textwrap


def formula_in_plain_text(match):
    r"""A formula of LaTeX as the terminal shows it: \f$\sum p / j^{3/2}\f$ is "sum p / j^(3/2)"."""
    text = re.sub(r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)", match[1])
    text = re.sub(r"\\ne\b", "!=", text.replace(r"\log_2", "log2"))
    text = re.sub(r"\\(exp|max|min|sum)(?![a-z])", r"\1", text)
    text = re.sub(r"([_^])\{(-?\w+)\}", r"\1\2", text)
    text = re.sub(r"([_^])\{([^{}]*)\}", r"\1(\2)", text)
    if re.search(r"[\\{}]", text):
        sys.exit(f"make_documentation.py: {match[0]} has a command that has no plain text: {text}")
    return text


def label_of(key):
    """Of the key of a reference: "[Galloway 1975]"."""
    return re.sub(r"(\D+)(\d+)", r"[\1 \2]", key)


def read_references(path):
    """A dict of the references of a BibTeX file: label -> text."""
    references = {}
    entries = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for key, fields in entries:
        field = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", fields, re.MULTILINE))
        field = {name: re.sub(r"\\(&)|[{}]", r"\1", value).replace("--", "-") for name, value in field.items()}
        place = field.get("journal") or field["booktitle"]
        where = ", ".join(filter(None, (field.get("volume"), field.get("pages"))))
        authors = field["author"].replace(" and ", ", ")
        text = f"{authors}. {field['title']}. {place} {where} ({field['year']}).".replace("  ", " ")
        references[label_of(key)] = text + (f" {field['url']}" if "url" in field else "")
    return references


def text_of(comment):
    """The text of a Doxygen comment."""
    text = "\n".join(re.sub(r"^\s*\*( |$)", "", line) for line in comment.strip().splitlines())
    text = re.sub(r"^\\class .*\n|^\\ingroup .*\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\\tparam .*\n(?:(?!\\|$).*\n)*", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\\par (.*)$", r"\1\n", text.replace("\\brief ", ""), flags=re.MULTILINE)
    text = re.sub(r"\\f\$(.*?)\\f\$", formula_in_plain_text, text, flags=re.DOTALL)
    text = re.sub(r"\\cite (\w+)", lambda match: label_of(match[1]), text)
    text = re.sub(r"\\python\{([\w.]+)\}", r"\1", text)
    # Of two paragraphs, the first has the relatives in C++.
    text = re.sub(r"^\\sa ((?:.+\n)+?)\\sa ", r"See also \1In Python: ", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def read_class(folder, name):
    """The text of a class, its parameters, and the base class, if that is of this module."""
    header = (folder / f"itk{name}.h").read_text()
    declaration = re.search(
        rf"/\*\*(?P<comment>(?:(?!\*/).)*?)\*/\s*template [^;{{]*class ITK_TEMPLATE_EXPORT {name}\b\s*:\s*public\s+(?P<base>[^{{]*)",
        header,
        flags=re.DOTALL,
    )
    parameters = {}
    public = header[declaration.end() :].partition("protected:")[0]
    for comment, code in re.findall(r"/\*\*((?:(?!\*/).)*)\*/((?:(?!/\*\*|\n\n).)*)", public, re.DOTALL):
        for parameter in re.findall(
            r"\bitkSet(?:Enum|Input)?Macro\((\w+)|\bVoxelMapsSetGetMacro\((\w+)|^\s+Set(\w+)\(", code, re.MULTILINE
        ):
            parameters.setdefault("".join(parameter), " ".join(text_of(comment).split()))
    bases = [base for base in re.findall(r"\w+", declaration["base"]) if (folder / f"itk{base}.h").exists()]
    return text_of(declaration["comment"]), parameters, bases


def documentation_of(folder, name):
    text, parameters, bases = read_class(folder, name)
    for base in bases:
        _, inherited, _ = read_class(folder, base)
        more = documentation_of(folder, base)
        parameters = {**more["parameters"], **inherited, **parameters}
    # Lists of parameters say what the features are; the discretization is that of its own filter.
    features = re.search(r"^- Features (.*(?:\n  .*)*)", text, flags=re.MULTILINE)
    if features:
        parameters["Features"] = " ".join(f"Features to compute {features[1]}".split())
    if "DiscretizationMethod" in parameters:
        own = read_class(folder, "GrayLevelDiscretizationImageFilter")[1]
        for parameter, meaning in parameters.items():
            if "see GrayLevelDiscretizationImageFilter" in meaning:
                parameters[parameter] = own[parameter.replace("DiscretizationMethod", "Method")]
    return {"text": text, "parameters": parameters}


def main():
    folder, references, output, *names = sys.argv[1:]
    folder, references = pathlib.Path(folder), read_references(pathlib.Path(references))
    classes = [each for name in names for each in (name, f"Cuda{name}") if (folder / f"itk{each}.h").exists()]
    documentation = {name: documentation_of(folder, name) for name in classes}
    for name, of_class in documentation.items():
        if not of_class["text"] or not of_class["parameters"]:
            sys.exit(f"make_documentation.py: no documentation of {name} is found")
        cited = sorted(set(re.findall(r"\[[A-Z][a-z]+ \d{4}\]", of_class["text"])))
        if not set(cited) <= set(references):
            sys.exit(f"make_documentation.py: {name} cites {', '.join(cited)}, of which some are not in the references")
        of_class["references"] = {label: references[label] for label in cited}
        left = re.search(r"\\[a-z]+", of_class["text"] + " ".join(of_class["parameters"].values()))
        if left:
            sys.exit(f"make_documentation.py: the documentation of {name} has {left[0]}, which is not converted")
    lines = (
        f'"""The documentation of the C++ classes."""\n\nDOCUMENTATION = {pprint.pformat(documentation, width=120)}\n'
    )
    pathlib.Path(output).write_text(textwrap.dedent(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
