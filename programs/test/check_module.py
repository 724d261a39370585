# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""check_module.py PROGRAM XML IMAGE MASK: check a program as a module of 3D Slicer, in the current folder.

The program prints XML for --xml, the description is valid, its defaults are those of the program, and the program runs
with the arguments that Slicer gives (vtkSlicerCLIModuleLogic::ApplyTask) and reports its progress.
"""

import filecmp
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

# What the modules are run with: values by the names of parameters. Points are in LPS.
VALUES = {
    "FeatureMaps": {"output": "gln.nrrd", "features": "GLN"},
    "FuzzyConnectedness": {"output": "strength.nrrd", "seed_point": [(-17.25, -14.5, 2.0), (-22.0, -10.75, 3.5)]},
}
# Options that other options need.
NEEDS = {
    "weight": ["--affinity", "weighted-sum"],
    "distances": ["--class", "Dependence"],
    "alpha": ["--class", "Dependence"],
    "crop_margin": ["--crop-to-seeds"],
    "minimum_volume": ["--suggest-threshold"],
    "difference_mean": "--affinity weighted-sum --mean 60 --variance 9000 --difference-variance 9000".split(),
}
# Types that Slicer passes even if the user changes nothing; it leaves out vectors and images without a value.
ALWAYS_PASSED = ("integer", "double", "string-enumeration")


def require(condition, what):
    if not condition:
        raise SystemExit(f"does not hold: {what}")


def run(program, *arguments, timeout=300):
    """Standard output of the program, which must succeed, without a display."""
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout, env=environment)
    require(result.returncode == 0 and result.stderr == "", f"{arguments} succeeds: {result.stderr}")
    return result.stdout


def check_structure(root):
    """The order of elements is that of CTK's schema for these descriptions, the letters of names those of Slicer."""
    require(root.tag == "executable", "the root is <executable>")
    tags = [child.tag for child in root]
    head = ["category", "title", "description", "version", "license", "contributor"]
    require(tags[:6] == head and set(tags[6:]) == {"parameters"}, f"{tags} are in order")
    require(all(child.text.strip() for child in root[:6]), "every element has a text")

    names = []
    indices = []
    for group in root.iter("parameters"):
        require([child.tag for child in group[:2]] == ["label", "description"], "groups have a label")
        for parameter in group[2:]:
            tags = [child.tag for child in parameter]
            require(
                re.fullmatch(
                    "name (longflag|index) description label( default)?( channel)?( constraints|( element)+)?",
                    " ".join(tags),
                ),
                f"{tags} are in order",
            )
            name = parameter.findtext("name")
            names.append(name)
            require(re.fullmatch("[a-z_][a-z0-9_]*", name), f"{name} is a name")
            require(parameter.findtext("label") and parameter.findtext("description"), f"{name} is described")
            require((parameter.tag == "image") == ("channel" in tags), f"{name} has a channel if it is an image")
            if "index" in tags:
                indices.append(int(parameter.findtext("index")))
            else:
                require(parameter.findtext("longflag") == name, f"{name} is its own option")
            default = parameter.findtext("default")
            require((default is not None) == (parameter.tag in (*ALWAYS_PASSED, "boolean")), f"{name} has a default")
            if parameter.tag.endswith("enumeration"):
                require(default in [e.text for e in parameter.iter("element")], f"the default of {name} is allowed")
            constraints = parameter.find("constraints")
            if constraints is not None:
                low, high, step = (float(constraints.findtext(tag)) for tag in ("minimum", "maximum", "step"))
                require(low <= float(default) <= high and 0 < step < high - low, f"the constraints of {name} are right")
    require(len(names) == len(set(names)), "names are unique")
    require(sorted(indices) == list(range(len(indices))), "indices are 0, 1, ...")


def get_slicer_arguments(parameters, values):
    """The command line that Slicer makes of the values of a dialog: options in order, then those with an index."""
    arguments = []
    positional = {}
    for parameter in parameters:
        name = parameter.findtext("name")
        value = values.get(name, parameter.findtext("default"))
        if parameter.find("index") is not None:
            positional[int(parameter.findtext("index"))] = value
        elif parameter.tag == "boolean":
            arguments += [f"--{name}"] if value == "true" else []
        elif parameter.tag == "point":
            for x, y, z in values.get(name, []):
                require(parameter.get("coordinateSystem") == "ras", "Slicer's points are in RAS")
                arguments += [f"--{name}", f"{-x},{-y},{z}"]
        elif value is not None:
            arguments += [f"--{name}", value]
    return arguments + [positional[i] for i in sorted(positional)]


def get_shell_arguments(parameters, values):
    """The values as a user of the shell gives them, without any default."""
    arguments = [values[p.findtext("name")] for p in parameters if p.find("index") is not None]
    for parameter in parameters:
        name = parameter.findtext("name")
        if name not in values or parameter.find("index") is not None:
            continue
        given = values[name]
        if parameter.tag == "point":
            given = [",".join(map(str, point)) for point in given]
        for value in given if isinstance(given, list) else [given]:
            arguments.append(f"--{name.replace('_', '-')}={value}")
    return arguments


def check_defaults(program, parameters, values):
    """A default changes no output when it is given explicitly; --help names the same."""
    help_text = run(program, "--help")
    outputs = [pathlib.Path(value) for value in values.values() if str(value).endswith(".nrrd")]
    shell = get_shell_arguments(parameters, values)

    def get_outputs(*arguments):
        run(program, *shell, *arguments)
        contents = [path.read_bytes() for path in outputs]
        for path in outputs:
            path.unlink()
        return contents

    number_checked = 0
    for parameter in parameters:
        if parameter.get("hidden") or parameter.tag == "boolean":
            continue
        name = parameter.findtext("name")
        option = "--" + name.replace("_", "-")
        value = parameter.findtext("default")
        if value is not None:
            require(re.search(rf"{option} .*={re.escape(value)}\s", help_text), f"--help has {option}={value}")
        else:
            described = re.search(r"\(default ([-\d.]+)(?: or (\d+))?\b", parameter.findtext("description"))
            if not described:
                continue
            # "4 or 6": the image has three dimensions.
            value = described[2] or described[1]
        needs = NEEDS.get(name, [])
        require(get_outputs(*needs) == get_outputs(*needs, option, value), f"{value} is the default of {option}")
        number_checked += 1
    require(number_checked >= 4, "there are defaults to check")


def check_slicer_run(program, parameters, values):
    """The program gives the same output for the arguments of Slicer as for those of a shell."""
    outputs = [pathlib.Path(value) for value in values.values() if str(value).endswith(".nrrd")]
    run(program, *get_shell_arguments(parameters, values))
    for path in outputs:
        path.rename(f"shell_{path}")
    text = run(program, *get_slicer_arguments(parameters, values))
    for path in outputs:
        require(filecmp.cmp(path, f"shell_{path}", shallow=False), f"{path} is the same for Slicer and the shell")

    # Applications parse it as XML, text between elements included.
    progress = ElementTree.fromstring(f"<output>{text}</output>")
    tags = [element.tag for element in progress]
    require(re.fullmatch("filter-start( filter-progress)+ filter-end", " ".join(tags)), f"{tags} are in order")
    values = [float(element.text) for element in progress.iter("filter-progress")]
    require(values == sorted(values) and 0.0 <= values[0] and values[-1] <= 1.0, f"{values} are progress")


def main(program, xml, image, mask):
    # Slicer waits for five seconds.
    text = run(program, "--xml", timeout=5)
    require(
        text == pathlib.Path(xml).read_text(encoding="utf-8"),
        f"{xml} is what the program prints; {pathlib.Path(program).name} --xml > {xml} writes it anew",
    )
    root = ElementTree.fromstring(text.encode())
    check_structure(root)
    parameters = [parameter for group in root.iter("parameters") for parameter in group[2:]]
    values = {"input": image, "mask": mask, **VALUES[pathlib.Path(program).stem]}
    check_slicer_run(program, parameters, values)
    check_defaults(program, parameters, values)


if __name__ == "__main__":
    main(*sys.argv[1:])
