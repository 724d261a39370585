# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Feature maps by name, which are parts of one array with the geometry of an image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple

if TYPE_CHECKING:
    from ._types import SameArray

# Key of the names of components in headers of NRRD and MetaImage, as the program FeatureMaps writes it.
FEATURE_NAMES = "FeatureNames"


class Geometry(NamedTuple):
    """Where the voxels of an image are, in the order x, y, z, as ITK has it; the direction is row by row."""

    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    direction: tuple[float, ...]


class FeatureMaps(Mapping[str, Any]):
    """Maps by name: maps["glcm_Contrast"]. All are parts of one array.

    array       All maps, one after the other, in the order of the names: the shape (C, ...) with that of a map behind.
    slices      The part of the input that the maps cover, as a tuple of slices of its last axes; empty for maps of files.
    geometry    spacing, origin and direction of the maps, in the order of ITK; None for maps of arrays.

    Examples

    >>> import numpy as np, voxelmaps
    >>> x = np.arange(600, dtype=np.float32).reshape(6, 10, 10)
    >>> maps = voxelmaps.feature_maps(x, x > 400, features=["firstorder_Mean", "glcm_Contrast"], crop="mask")
    >>> list(maps), maps.array.shape, maps["glcm_Contrast"].shape
    (['firstorder_Mean', 'glcm_Contrast'], (2, 4, 10, 10), (4, 10, 10))
    >>> x[maps.slices].shape
    (4, 10, 10)
    """

    def __init__(
        self,
        names: Iterable[str],
        array: SameArray,
        slices: tuple[slice, ...],
        geometry: Geometry | None = None,
    ) -> None:
        self._index = {name: i for i, name in enumerate(names)}
        self.array = array
        self.slices = slices
        self.geometry = geometry

    def __getitem__(self, name: str) -> SameArray:
        return self.array[self._index[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def _repr_png_(self) -> bytes | None:
        """The picture that notebooks show: the first maps, in the slice with the most values; None without matplotlib."""
        from ._pictures import picture_of_maps

        return picture_of_maps(self)

    def __repr__(self) -> str:
        shape = tuple(self.array.shape[1:])
        return f"FeatureMaps({len(self)} maps of shape {shape}: {', '.join(self)})"
