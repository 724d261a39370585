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
"""Write the Python documentation of the filters from that of the C++ classes.

Usage: make_documentation.py FOLDER_OF_HEADERS OUTPUT CLASS...

The output is a module with DOCUMENTATION: for each class and its Cuda class, its text, and the text of each parameter.
"""

import pathlib
import pprint
import re
import sys
import textwrap


def text_of(comment):
    """The text of a Doxygen comment."""
    text = "\n".join(re.sub(r"^\s*\*( |$)", "", line) for line in comment.strip().splitlines())
    text = re.sub(r"^\\class .*\n|^\\ingroup .*\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\\tparam .*\n(?:(?!\\|$).*\n)*", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\\par (.*)$", r"\1\n", text.replace("\\brief ", ""), flags=re.MULTILINE)
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
    folder, output, *names = sys.argv[1:]
    folder = pathlib.Path(folder)
    classes = [each for name in names for each in (name, f"Cuda{name}") if (folder / f"itk{each}.h").exists()]
    documentation = {name: documentation_of(folder, name) for name in classes}
    for name, of_class in documentation.items():
        if not of_class["text"] or not of_class["parameters"]:
            sys.exit(f"make_documentation.py: no documentation of {name} is found")
    lines = (
        f'"""The documentation of the C++ classes."""\n\nDOCUMENTATION = {pprint.pformat(documentation, width=120)}\n'
    )
    pathlib.Path(output).write_text(textwrap.dedent(lines))


if __name__ == "__main__":
    main()
