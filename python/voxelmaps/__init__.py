# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Texture feature maps of arrays and images, labels from seeds that are edited, and DICOM series.

feature_maps         maps of all texture classes, from arrays of NumPy, PyTorch, CuPy, JAX and Numba; needs no ITK
describe             range, gray levels, voxels and memory of feature_maps, before anything is computed
region_features      one number per feature and region of a segmentation, with shape, from the same arrays; needs no ITK
fuzzy_connectedness  strength of the connection to seeds, from the same arrays; needs no ITK
suggest_threshold    threshold for these strengths, above the largest leak
labels               labels of all voxels from labeled seeds, from the same arrays; needs no ITK
FeatureMapsd         feature_maps as a dictionary transform in the style of MONAI
SeedSession          labels of voxels from seeds that a user adds and deletes; needs ITK for its images only
Segmentation         labels, strength and margin, as labels returns them on request
read_dicom_series    read a DICOM series, and reject series that are not one evenly spaced volume
list_dicom_series    list the DICOM series in a folder
read_maps            read maps that were written to files, with their names
check_image_file     reject a truncated or corrupt image file, which readers may accept
show                 picture of an image and its maps, with color bars, scale bar and slice, as a figure of matplotlib
map_limits           color limits for pictures of several cases
release_device_memory
                     free the device memory that is retained for later calls
sample_ct            synthetic CT of the abdomen, for examples and tests
radiomics            PyRadiomics' voxel-based extraction

The filters of ITK are in the package itk-voxelmaps, as functions and classes of the package itk, such as
itk.run_length_feature_map_image_filter.
Importing this package needs only NumPy; ITK is imported on first use.
"""

import importlib

# Modules of this package, which are imported when one of their names is first used. Type checkers read __init__.pyi.
_NAMES = {
    "_connectedness": "fuzzy_connectedness",
    "_describe": "Description describe",
    "_devices": "release_device_memory",
    "_feature_maps": "feature_maps",
    "_files.dicom": "DicomSeries list_dicom_series",
    "_files.images": "check_image_file",
    "_files.reading": "read_dicom_series read_maps",
    "_labels": "Segmentation labels",
    "_maps": "FeatureMaps",
    "_pictures": "map_limits show",
    "_region_features": "region_features",
    "_sample": "sample_ct",
    "_seed_session": "SeedSession",
    "_threshold": "suggest_threshold",
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
            raise AttributeError(f"module {__name__} has no version: voxelmaps is not installed") from None
    elif name in _MODULES:
        value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_MODULES, *_SUBMODULES, "__version__"})
