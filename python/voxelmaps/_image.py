# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Arrays with the geometry of an image, from and to images of ITK and SimpleITK, and files."""

import importlib.util
import os
import sys
from typing import NamedTuple, Tuple

import numpy as np


class Image(NamedTuple):
    """An array with the geometry of an image. Axes of the array are in NumPy's order; those of the geometry are x, y, z."""

    array: np.ndarray
    spacing: Tuple[float, ...]
    origin: Tuple[float, ...]
    direction: Tuple[float, ...]

    @property
    def size(self):
        return tuple(reversed(self.array.shape))

    def with_array(self, array):
        return self._replace(array=array)

    def _matrix(self):
        """What maps differences of indices to differences of points."""
        dimension = len(self.spacing)
        return np.reshape(self.direction, (dimension, dimension)) * np.asarray(self.spacing)

    def point(self, index):
        """The point of an index in the order x, y, z; it may be between voxels. The same as ITK's, to the last bit."""
        index = [float(i) for i in index]
        result = []
        for row, origin in zip(self._matrix().tolist(), self.origin):
            # Not sum(), which rounds once from Python 3.12 on.
            total = 0.0
            for factor, i in zip(row, index):
                total += factor * i
            result.append(total + origin)
        return tuple(result)

    def index(self, point):
        """The continuous index of a point, in the order x, y, z."""
        return tuple(np.linalg.solve(self._matrix(), np.subtract(point, self.origin)).tolist())

    def box(self, lower, upper, margin):
        """Slices from lower to upper, in NumPy's order, with a margin of voxels as far as the image reaches."""
        first = [max(int(i) - margin, 0) for i in lower]
        last = [min(int(i) + margin, n - 1) for i, n in zip(upper, self.array.shape)]
        return tuple(slice(f, l + 1) for f, l in zip(first, last))

    def part(self, box):
        origin = self.point(reversed([part.start for part in box]))
        return self._replace(array=np.ascontiguousarray(self.array[box]), origin=origin)

    def cropped(self, lower, upper, margin):
        return self.part(self.box(lower, upper, margin))


# --- Images of ITK and SimpleITK ---------------------------------------------------------------------------------------


def simpleitk(purpose):
    """The module SimpleITK. Raises ImportError with the purpose if it is not installed."""
    try:
        import SimpleITK
    except ImportError:
        raise ImportError(f"{purpose} needs SimpleITK: pip install SimpleITK") from None
    return SimpleITK


def _is_simpleitk(value):
    return type(value).__module__.split(".")[0] == "SimpleITK"


def from_simpleitk(image):
    from SimpleITK import GetArrayFromImage

    return Image(GetArrayFromImage(image), image.GetSpacing(), image.GetOrigin(), image.GetDirection())


def to_simpleitk(volume):
    from SimpleITK import GetImageFromArray

    array = volume.array.view(np.uint8) if volume.array.dtype == bool else volume.array
    image = GetImageFromArray(array, isVector=False)
    image.SetSpacing(volume.spacing)
    image.SetOrigin(volume.origin)
    image.SetDirection(volume.direction)
    return image


def _is_itk(value):
    # There are no images of ITK before ITK is imported.
    itk = sys.modules.get("itk")
    return itk is not None and isinstance(value, (itk.DataObject, itk.ProcessObject))


def _from_itk(image):
    from ._itk import itk

    image = itk.output(image)
    image.Update()
    region = image.GetBufferedRegion()
    return Image(
        itk.array_from_image(image),
        tuple(image.GetSpacing()),
        tuple(image.TransformIndexToPhysicalPoint(region.GetIndex())),
        tuple(itk.array_from_matrix(image.GetDirection()).ravel()),
    )


def to_itk(volume):
    from . import _images
    from ._itk import itk

    image = _images.image_with_values(_images.native(volume.array))
    image.SetSpacing(volume.spacing)
    image.SetOrigin(volume.origin)
    dimension = len(volume.spacing)
    image.SetDirection(itk.matrix_from_array(np.reshape(volume.direction, (dimension, dimension))))
    return image


def to_itk_or_simpleitk(volume):
    """An ITK image, or one of SimpleITK if ITK is not installed."""
    return (to_itk if importlib.util.find_spec("itk") else to_simpleitk)(volume)


def read(path, what, **options):
    """The volume of a file, or of a folder with a DICOM series; options are those of _files.images.read."""
    from ._files import images, paths

    return Image(*images.read(paths.utf8(os.fspath(path), what), what, **options))


def load(value, what, **options):
    """The volume of an image or file, and the function that makes images of the same library of volumes.

    options    Of a path, those of _files.images.read. For masks, grid is the volume on which a DICOM segmentation is placed.
    """
    convert = None
    if _is_simpleitk(value) and value.GetPixelIDTypeAsString().startswith("label"):
        raise TypeError(f"{what} is a label map; convert it with SimpleITK.LabelMapToLabel")
    if isinstance(value, (str, os.PathLike)):
        volume, convert = read(value, what, **options), to_simpleitk
    elif _is_simpleitk(value):
        volume, convert = from_simpleitk(value), to_simpleitk
    elif _is_itk(value):
        volume, convert = _from_itk(value), convert or to_itk
    else:
        raise TypeError(
            f"{what} must be an itk.Image, a SimpleITK.Image or the path of a file, not {type(value).__name__}"
        )
    if len(volume.spacing) not in (2, 3):
        raise ValueError(f"{what} has {len(volume.spacing)} dimensions, but must have 2 or 3")
    if volume.array.size == 0:
        raise ValueError(f"{what} of size {volume.size} has no voxels")
    if volume.array.dtype.kind not in "iuf":
        raise TypeError(f"{what} has voxels of {volume.array.dtype}, but they must be real numbers")
    return volume, convert


def difference_of_geometry(image, other, tolerance=1e-6):
    """The first of origin, spacing and direction that differs between two volumes, as ITK compares them, with both values and by
    how much they may differ; None if nothing does."""
    for name, allowed in (
        ("origin", tolerance * image.spacing[0]),
        ("spacing", tolerance * image.spacing[0]),
        ("direction", tolerance),
    ):
        ours, theirs = getattr(image, name), getattr(other, name)
        # NaN is not within any tolerance.
        if len(ours) != len(theirs) or not all(abs(a - b) <= allowed for a, b in zip(ours, theirs)):
            return name, ours, theirs, allowed
    return None
