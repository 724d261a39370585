#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Add to a wheel what its libraries contain statically: the licenses, and a bill of materials in CycloneDX (PEP 770). Docstrings of
the wheel voxelmaps become those of help(), with the parameters that are described elsewhere, for editors, which read sources.

    complete_wheel.py WHEEL FOLDER

FOLDER is the build folder of the core for the wheel voxelmaps, and the source of ITK for the wheel itk-voxelmaps.

auditwheel writes a bill only of libraries that it copies from packages of the system; there are none.
"""

import ast
import hashlib
import importlib
import inspect
import json
import pathlib
import re
import subprocess
import sys

from auditwheel.wheeltools import InWheel

wheel, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])


def find(path, pattern):
    return ".".join(re.findall(pattern, path.read_text()))


def itk_components(itk):
    """Name, version, SPDX expression, and files with the license, of what the wrapping contains of ITK."""
    vxl = itk / "Modules/ThirdParty/VNL/src/vxl"
    version = find(itk / "CMake/itkVersion.cmake", r'ITK_VERSION_\w+ "(\d+)"')
    yield "ITK", version, "Apache-2.0", [itk / "LICENSE", itk / "NOTICE", itk / "Documentation/docs/licenses.md"]
    yield "VXL", find(vxl / "CMakeLists.txt", r"\n +VERSION ([\d.]+)"), "BSD-3-Clause", [vxl / "core/vxl_copyright.h"]
    # These have no versions of their own.
    yield "netlib", f"ITK-{version}", "LicenseRef-netlib", [vxl / "v3p/netlib/libf2c/Notice"]
    for name, file in ("KWSys", "KWSys/src/KWSys/Copyright.txt"), ("double-conversion", "DoubleConversion/src/LICENSE"):
        yield name, f"ITK-{version}", "BSD-3-Clause", [itk / "Modules/ThirdParty" / file]


def core_components(core):
    """The same of what the core contains of the CUDA Toolkit."""
    if "VoxelMaps_USE_CUDA:BOOL=ON" in (core / "CMakeCache.txt").read_text():
        compiler = next(core.glob("CMakeFiles/*/CMakeCUDACompiler.cmake"))
        version = find(compiler, r'CUDA_COMPILER_VERSION "(\d+\.\d+)')
        toolkit = pathlib.Path(find(compiler, r'TOOLKIT_ROOT "(.+)"'))
        # In NVIDIA's packages for Debian and PyPI, and in its installer.
        terms = [
            pathlib.Path(f"/usr/share/doc/cuda-cudart-dev-{version.replace('.', '-')}/copyright"),
            toolkit / "EULA.txt",
        ]
        terms += toolkit.glob("dist-info/nvidia_cuda_runtime-*/licenses/*")
        terms = [path for path in terms if path.exists()]
        if not terms:
            print(f"{sys.argv[0]}: no license of the CUDA runtime; do not distribute this wheel", file=sys.stderr)
        yield "CUDA Runtime", version, "LicenseRef-NVIDIA-CUDA-EULA", terms[:1]
        # Ninja knows the headers that each object was compiled with.
        command = ["ninja", "-C", core, "-t", "deps"]
        headers = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        if not re.search(r"/(cub|thrust|cuda/std)/", headers):
            return
        cub = next(path for path in (toolkit / "include/cccl/cub", toolkit / "include/cub") if path.exists())
        number = int(find(cub / "version.cuh", r"define CUB_VERSION (\d+)"))
        version = f"{number // 100000}.{number // 100 % 1000}.{number % 100}"
        # Thrust and libcu++ have the license of ITK, libcu++ with an exception.
        expression = "BSD-3-Clause AND Apache-2.0 AND Apache-2.0 WITH LLVM-exception"
        yield "CCCL", version, expression, [cub / "util_macro.cuh"]


def write_docstrings(package):
    """Replace docstrings in the sources of a package in the current folder that with_parameters completes."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, "")
    module = importlib.import_module(package)
    objects = [getattr(module, name) for name in module.__all__]
    objects += [member for each in objects if inspect.isclass(each) for member in vars(each).values()]
    for one in filter(lambda one: inspect.isclass(one) or inspect.isfunction(one), objects):
        # Functions that a NamedTuple generates have no file.
        path = pathlib.Path(inspect.getsourcefile(one) or "")
        lines = path.read_text("utf-8").splitlines() if path.is_file() else []
        for node in ast.walk(ast.parse("\n".join(lines))):
            if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name != one.__name__:
                continue
            if "\n**parameters\n" not in (ast.get_docstring(node) or ""):
                continue
            place, indent = node.body[0], " " * node.body[0].col_offset
            text = [indent + line if line else "" for line in f'"""{inspect.cleandoc(one.__doc__)}\n"""'.split("\n")]
            if "\n**parameters\n" not in one.__doc__:
                path.write_text("\n".join([*lines[: place.lineno - 1], *text, *lines[place.end_lineno :], ""]), "utf-8")
            break


components = itk_components if wheel.name.startswith("itk_") else core_components


with InWheel(wheel, wheel):
    if components is core_components:
        write_docstrings("voxelmaps")
    info = next(pathlib.Path().glob("*.dist-info"))
    name, version = info.stem.split("-")
    parts = []
    for part, part_version, expression, files in components(folder):
        parts.append({"type": "library", "bom-ref": part, "name": part, "version": part_version})
        parts[-1]["licenses"] = [{"expression": expression}]
        place = info / "licenses" / part.replace(" ", "-")
        place.mkdir(parents=True, exist_ok=True)
        for file in files:
            (place / file.name).write_bytes(file.read_bytes())
    libraries = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in pathlib.Path().rglob("*.so*")}
    product = {"type": "library", "bom-ref": name, "name": name, "version": version}
    product["purl"] = f"pkg:pypi/{name.replace('_', '-')}@{version}"
    product["licenses"] = [{"expression": "Apache-2.0"}]
    product["components"] = [
        {"type": "file", "name": library, "hashes": [{"alg": "SHA-256", "content": digest}]}
        for library, digest in sorted(libraries.items())
    ]
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": product}}
    bill["components"] = parts
    bill["dependencies"] = [{"ref": name, "dependsOn": [part["bom-ref"] for part in parts]}]
    (info / "sboms").mkdir(exist_ok=True)
    (info / "sboms" / f"{name}.cdx.json").write_text(json.dumps(bill, indent=1) + "\n")
