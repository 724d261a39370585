# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""itk.voxelmaps is another name of the package voxelmaps: its modules are the same objects under both names. Installed as
itk/voxelmaps/__init__.py."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import pathlib
import sys


class _SameModules(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds itk.voxelmaps.NAME, which is voxelmaps.NAME."""

    @staticmethod
    def _spec(name):
        return importlib.util.find_spec(name.removeprefix("itk."))

    def find_spec(self, name, path=None, target=None):
        spec = self._spec(name) if name.startswith("itk.voxelmaps.") else None
        return spec and importlib.machinery.ModuleSpec(name, self, origin=spec.origin)

    def exec_module(self, module):
        name = module.__name__
        sys.modules[name] = importlib.import_module(name.removeprefix("itk."))

    # What python -m runs.
    def get_code(self, name):
        return self._spec(name).loader.get_code(name.removeprefix("itk."))

    def get_source(self, name):
        return self._spec(name).loader.get_source(name.removeprefix("itk."))


def _import_from_elsewhere():
    """Import voxelmaps from another folder of sys.path than the one in which this file is found as voxelmaps."""
    here = pathlib.Path(__file__).parents[1].resolve()
    folders = [folder for folder in sys.path if pathlib.Path(folder).resolve() != here]
    spec = importlib.machinery.PathFinder.find_spec("voxelmaps", folders)
    if spec is None:
        raise ModuleNotFoundError("No module named 'voxelmaps'", name="voxelmaps")
    sys.modules["voxelmaps"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "voxelmaps":
    # While ITK loads a library, the folder of ITK is the first one in sys.path.
    _import_from_elsewhere()
else:
    import voxelmaps

    # Refuses another version of ITK. The wrapping imports this module before it loads the library of the filters.
    from voxelmaps import _itk  # noqa: F401

    sys.meta_path.insert(0, _SameModules())
    sys.modules[__name__] = voxelmaps
