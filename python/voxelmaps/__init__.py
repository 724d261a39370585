# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Texture feature maps of arrays and images, features of regions, labels from seeds that are edited, and DICOM series.

feature_maps, region_features, fuzzy_connectedness and labels take arrays of NumPy, PyTorch, CuPy, JAX and Numba, images of ITK,
SimpleITK, nibabel, xarray and MONAI, and paths; the docstring of each function has examples. The module radiomics is PyRadiomics'
voxel-based extraction.

The filters of ITK are in the package itk-voxelmaps, as functions and classes of the package itk, such as
itk.run_length_feature_map_image_filter.
Importing this package needs only NumPy; ITK is imported on first use.
"""

import importlib

# Modules of this package, which are imported when one of their names is first used. Type checkers read __init__.pyi.
_NAMES = {
    "_connectedness": "fuzzy_connectedness suggest_threshold",
    "_describe": "Description describe",
    "_devices": "release_device_memory",
    "_feature_maps": "feature_maps",
    "_filter_image": "filter_image",
    "_files.dicom": "DicomSeries list_dicom_series",
    "_files.images": "check_image_file",
    "_reading": "read_dicom_series read_maps",
    "_ibsi.features": "ibsi_features",
    "_ibsi.response_maps": "response_map",
    "_labels": "Segmentation labels",
    "_maps": "FeatureMaps",
    "_pictures": "map_limits show",
    "_regions": "RegionFeatures region_features",
    "_resample": "resample",
    "_sample": "sample_ct",
    "_seed_session": "SeedSession",
    "_transforms": "FeatureMapsd",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
_SUBMODULES = ("radiomics",)

__all__ = sorted([*_MODULES, *_SUBMODULES])


def __getattr__(name):
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "__version__":
        metadata = importlib.import_module("importlib.metadata")
        try:
            value = metadata.version("voxelmaps")
        except metadata.PackageNotFoundError:
            # In a frozen program, or in a folder that was copied.
            try:
                value = importlib.import_module(f"{__name__}._core").version()
            except ImportError:
                raise AttributeError(f"module {__name__} has no version: voxelmaps is not installed") from None
    elif name in _MODULES:
        value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    else:
        suggestions = importlib.import_module(f"{__name__}._suggestions")
        similar = suggestions.did_you_mean(name, __all__) if name[:1] != "_" else ""
        raise AttributeError(f"module {__name__} has no attribute {name}{similar}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_MODULES, *_SUBMODULES, "__version__"})
