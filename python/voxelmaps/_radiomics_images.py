# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Loading and preparing an image and its region of interest as PyRadiomics does: geometry, label, normalization, resampling,
cropping, resegmentation."""

import concurrent.futures
import contextlib
import hashlib
import logging
import math
import os
import sys
import tempfile
from typing import Any, NamedTuple, Tuple

import numpy as np

from . import _arrays, _dicom, _files, _output_files

_logger = logging.getLogger(__name__)

# Of a resampled image. More would not fit into memory.
_MAX_VOXELS = 2**40


class Volume(NamedTuple):
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

    return Volume(GetArrayFromImage(image), image.GetSpacing(), image.GetOrigin(), image.GetDirection())


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
    return Volume(
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


def _read(path, what):
    """The image of a file, or of a folder with a DICOM series, and the function that makes such images of volumes."""
    sitk = simpleitk(f"reading {path}")
    if os.path.isdir(path):
        return _dicom.read_dicom_series(path), to_simpleitk
    if not os.path.exists(path):
        raise FileNotFoundError(f"{what} {path} does not exist")
    try:
        file = _files.CheckedFile(path)
        with contextlib.ExitStack() as stack:
            source = path
            if file.needs_link:
                source = os.path.join(
                    stack.enter_context(tempfile.TemporaryDirectory(prefix="voxelmaps-")), "image.nii.gz"
                )
                os.symlink(os.path.abspath(path), source)
            # Decompression checks the voxels meanwhile.
            pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(1))
            verification = pool.submit(file.verify)
            try:
                image = sitk.ReadImage(source, imageIO=file.image_io)
            finally:
                verification.result()
        return image, to_simpleitk
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    except RuntimeError as error:
        # The last line says why; those before are of the layers of SimpleITK.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ValueError(f"{what} {path} cannot be read: {lines[-1] if lines else error}") from None


def load(value, what):
    """The volume of an image or file, and the function that makes images of the same library of volumes."""
    convert = None
    if isinstance(value, (str, os.PathLike)):
        value, convert = _read(_output_files.utf8(os.fspath(value), what), what)
    if _is_simpleitk(value) and value.GetPixelIDTypeAsString().startswith("label"):
        raise TypeError(f"{what} is a label map; convert it with SimpleITK.LabelMapToLabel")
    if _is_simpleitk(value):
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


# --- Regions of interest -----------------------------------------------------------------------------------------------


def scalar_mask(mask, settings):
    """The mask, or the channel label_channel of one with several."""
    if mask.array.ndim == len(mask.spacing):
        return mask
    channel, channels = settings["label_channel"], mask.array.shape[-1]
    if channel >= channels:
        raise ValueError(f"setting label_channel is {channel}, but the mask has {channels} channels, counted from 0")
    return mask.with_array(np.ascontiguousarray(mask.array[..., channel]))


def region_of_interest(mask, settings):
    """The region with the label, as a volume of bool."""
    label = settings["label"]
    # PyRadiomics casts masks to integers.
    inside = (np.trunc(mask.array) if mask.array.dtype.kind == "f" else mask.array) == label
    _arrays.check_some_inside(inside, lambda: mask.array, "the mask", f"{label} (setting label)")
    return mask.with_array(inside)


def _bounds(inside):
    """First and last index inside, in NumPy's order."""
    axes = range(inside.ndim)
    used = [np.flatnonzero(inside.any(axis=tuple(a for a in axes if a != axis))) for axis in axes]
    return [int(u[0]) for u in used], [int(u[-1]) for u in used]


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


def _difference_of_grids(image, roi, settings):
    """What differs between the grids of image and mask, with ITK's tolerances; None if nothing does."""
    tolerance = settings["geometryTolerance"] or 1e-6
    if image.size != roi.size:
        return f"the mask has the size {roi.size}, but the image has {image.size}"
    difference = difference_of_geometry(image, roi, tolerance)
    if difference is None:
        return None
    name, ours, theirs, allowed = difference
    return (
        f"the mask has the {name} {theirs}, but the image has {ours}, and they may differ by {allowed:g} "
        "(setting geometryTolerance)"
    )


def _check_inside(image, roi):
    """Raise ValueError if the region of interest reaches beyond the image."""
    lower, upper = _bounds(roi.array)
    corners = [
        image.index(roi.point([i - 0.5 for i in reversed(lower)])),
        image.index(roi.point([i + 0.5 for i in reversed(upper)])),
    ]
    rounding = 1e-3
    first, last = np.min(corners, axis=0), np.max(corners, axis=0)
    if (first < -0.5 - rounding).any() or (last > np.array(image.size) - 0.5 + rounding).any():
        raise ValueError(
            f"the region of interest reaches from {first} to {last} in voxels of the image, which has the size {image.size}"
        )


def _on_grid_of(image, roi, purpose):
    """The region of interest, resampled to the grid of the image."""
    sitk = simpleitk(purpose)
    resample = sitk.ResampleImageFilter()
    resample.SetReferenceImage(to_simpleitk(image))
    resample.SetInterpolator(sitk.sitkNearestNeighbor)
    resampled = from_simpleitk(resample.Execute(to_simpleitk(roi)))
    return resampled.with_array(resampled.array != 0)


def check(image, roi, settings):
    """Check the region of interest. Returns it, on the grid of the image if it was not and correctMask is on; and its bounds."""
    difference = _difference_of_grids(image, roi, settings)
    if difference is not None:
        if not settings["correctMask"]:
            raise ValueError(f"{difference}; setting correctMask resamples the mask to the image")
        _logger.warning("%s; the mask is resampled to the image", difference)
        _check_inside(image, roi)
        roi = _on_grid_of(image, roi, "setting correctMask")
        if not roi.array.any():
            raise ValueError("no voxel of the mask is left after setting correctMask has resampled it to the image")
    lower, upper = _bounds(roi.array)
    dimensions = sum(first < last for first, last in zip(lower, upper))
    # A single voxel has no texture, whatever the setting.
    if dimensions < max(settings["minimumROIDimensions"], 1):
        raise ValueError(
            f"setting minimumROIDimensions is {settings['minimumROIDimensions']}, but the region of interest is longer than one "
            f"voxel along {dimensions} axes"
        )
    count, minimum = int(np.count_nonzero(roi.array)), settings["minimumROISize"]
    if minimum is not None and count <= minimum:
        raise ValueError(
            f"setting minimumROISize is {minimum}, but the region of interest has {count} voxels, and must have more"
        )
    return roi, lower, upper


# --- Preparation -------------------------------------------------------------------------------------------------------


def _normalized(image, settings):
    sitk = simpleitk("setting normalize")
    if image.array.min() == image.array.max():
        raise ValueError(
            f"setting normalize divides by the deviation of the image, which is 0: all intensities are {image.array.min()}"
        )
    result = sitk.Normalize(to_simpleitk(image))
    if settings["removeOutliers"] is not None:
        limit = settings["removeOutliers"]
        volume = from_simpleitk(result)
        array = volume.array
        array[array > limit], array[array < -limit] = limit, -limit
        result = to_simpleitk(volume)
    return from_simpleitk(result * float(settings["normalizeScale"]))


def _check_resampled(resampled, roi, wanted):
    if not resampled.array.any():
        raise ValueError(
            f"setting resampledPixelSpacing is {wanted.tolist()}, which leaves no voxel of the region of interest, whose "
            f"{np.count_nonzero(roi.array)} voxels have the spacing {list(roi.spacing)}"
        )


def _resampled(image, roi, settings):
    """Image and region of interest with the spacing resampledPixelSpacing, cropped to the region and padDistance."""
    sitk = simpleitk("setting resampledPixelSpacing")
    wanted = np.array(settings["resampledPixelSpacing"], dtype=float)
    old = np.array(roi.spacing)
    if len(wanted) != len(old):
        raise ValueError(f"setting resampledPixelSpacing is {wanted.tolist()}, but the mask has {len(old)} dimensions")
    _check_inside(image, roi)
    lower, upper = (np.array(bound[::-1]) for bound in _bounds(roi.array))
    # 0 keeps the spacing, and so does an axis along which the region has one voxel.
    new = np.where((wanted == 0) | (lower == upper), old, wanted)
    margin = settings["padDistance"]
    if np.allclose(image.spacing, new):
        on_grid = _on_grid_of(image, roi, "setting resampledPixelSpacing")
        _check_resampled(on_grid, roi, wanted)
        bounds = _bounds(on_grid.array)
        return image.cropped(*bounds, margin), on_grid.cropped(*bounds, margin)

    # The grid keeps the corner of the mask; half a voxel more on each side covers the whole region.
    ratio = old / new
    first = np.maximum(np.floor((lower - 0.5) * ratio - margin), 0)
    last = np.minimum(np.ceil((upper + 0.5) * ratio + margin), np.ceil(np.array(roi.size) * ratio) - 1)
    resample = sitk.ResampleImageFilter()
    resample.SetOutputSpacing(new.tolist())
    resample.SetOutputDirection(roi.direction)
    size = [int(n) for n in last - first + 1]
    if math.prod(size) > _MAX_VOXELS:
        raise ValueError(
            f"setting resampledPixelSpacing is {wanted.tolist()}, which makes an image of {size} voxels; {_MAX_VOXELS} are possible"
        )
    resample.SetSize(size)
    resample.SetOutputOrigin(roi.point(0.5 * (new - old) / old + first / ratio))

    def execute(volume, interpolator):
        source = to_simpleitk(volume)
        resample.SetInterpolator(interpolator)
        resample.SetOutputPixelType(source.GetPixelID())
        return from_simpleitk(resample.Execute(source))

    interpolator = settings["interpolator"]
    image = execute(image, getattr(sitk, interpolator) if isinstance(interpolator, str) else interpolator)
    resampled = execute(roi, sitk.sitkNearestNeighbor)
    _check_resampled(resampled, roi, wanted)
    return image, resampled.with_array(resampled.array != 0)


def _resegmented(image, roi, settings):
    """The part of the region of interest whose intensities are in resegmentRange."""
    values, mode = image.array[roi.array], settings["resegmentMode"]
    if values.dtype.kind in "iu":
        # Multiples of integers of small types overflow.
        values = values.astype(np.float64)
    limits = sorted(settings["resegmentRange"])
    if mode == "relative":
        limits = [np.max(values) * limit for limit in limits]
    elif mode == "sigma":
        mean, deviation = np.mean(values), np.std(values)
        limits = [mean + deviation * limit for limit in limits]
    kept = values >= limits[0]
    if len(limits) == 2:
        kept &= values <= limits[1]
    if np.count_nonzero(kept) <= 1:
        raise ValueError(
            f"setting resegmentRange is {settings['resegmentRange']} ({mode}), which leaves {np.count_nonzero(kept)} voxels; "
            "at least 2 are needed"
        )
    inside = roi.array.copy()
    inside[roi.array] = kept
    return roi.with_array(inside)


# --- Diagnostics -------------------------------------------------------------------------------------------------------


def _image_diagnostics(image, kind, hashes):
    entries = {}
    if kind == "original":
        if hashes:
            entries["Hash"] = hashlib.sha1(image.array.tobytes()).hexdigest()
        entries["Dimensionality"] = f"{len(image.spacing)}D"
    values = image.array.astype(float)
    entries.update(
        Spacing=image.spacing, Size=image.size, Mean=np.mean(values), Minimum=np.min(values), Maximum=np.max(values)
    )
    return {f"diagnostics_Image-{kind}_{name}": value for name, value in entries.items()}


def _number_of_components(inside):
    """The number of connected components, with 26 neighbors (8 in 2D)."""
    with contextlib.suppress(ImportError):
        # ITK's takes seconds to load.
        from SimpleITK import ConnectedComponentImageFilter, GetImageFromArray

        components = ConnectedComponentImageFilter()
        components.FullyConnectedOn()
        components.Execute(GetImageFromArray(inside.astype(np.uint8)))
        return components.GetObjectCount()
    from . import _images
    from ._itk import itk

    if not hasattr(itk, "ConnectedComponentImageFilter"):
        raise ImportError(
            "setting additionalInfo counts parts of the mask, which needs itk-segmentation: pip install itk"
        )
    image = _images.image_of(inside.astype(np.uint8))
    components = itk.ConnectedComponentImageFilter[type(image), itk.Image[itk.UL, inside.ndim]].New(image)
    components.FullyConnectedOn()
    components.Update()
    return int(components.GetObjectCount())


def _mask_diagnostics(roi, kind, image=None, labels=None):
    """Entries of a region of interest; of the intensities in it, if there is an image; the hash, if there are labels."""
    entries = {}
    if labels is not None:
        entries["Hash"] = hashlib.sha1(labels.astype(np.uint32).tobytes()).hexdigest()
    lower, upper = _bounds(roi.array)
    size = [last - first + 1 for first, last in zip(lower, upper)]
    center = tuple(np.mean(np.array(np.nonzero(roi.array)), axis=1)[::-1])
    entries.update(
        Spacing=roi.spacing,
        Size=roi.size,
        BoundingBox=tuple(reversed(lower)) + tuple(reversed(size)),
        VoxelNum=int(np.count_nonzero(roi.array)),
        VolumeNum=_number_of_components(roi.array),
        CenterOfMassIndex=center,
        CenterOfMass=roi.point(center),
    )
    if image is not None:
        values = image.array[roi.array].astype(float)
        entries.update(Mean=np.mean(values), Minimum=np.min(values), Maximum=np.max(values))
    return {f"diagnostics_Mask-{kind}_{name}": value for name, value in entries.items()}


class Prepared(NamedTuple):
    image: Volume
    # Of bool, on the same grid.
    roi: Volume
    diagnostics: Any
    # The image before it was cropped, and the part of its array that is left.
    whole: Volume
    box: Tuple[slice, ...]


def prepare(image, mask, settings, hashes):
    """Image and region of interest as they go into the computation of the maps, cropped to the region and kernelRadius."""
    if image.array.ndim != len(image.spacing):
        raise ValueError(f"the image has {image.array.shape[-1]} channels, but must have one")
    if len(image.spacing) != len(mask.spacing):
        raise ValueError(f"the image has {len(image.spacing)} dimensions, but the mask has {len(mask.spacing)}")
    mask = scalar_mask(mask, settings)
    roi = region_of_interest(mask, settings)
    diagnostics = {}
    add = diagnostics.update if settings["additionalInfo"] else lambda entries: None
    if settings["additionalInfo"]:
        add(_image_diagnostics(image, "original", hashes))
        add(_mask_diagnostics(roi, "original", labels=mask.array if hashes else None))

    if settings["normalize"]:
        image = _normalized(image, settings)
    if settings["interpolator"] is not None and settings["resampledPixelSpacing"] is not None:
        image, roi = _resampled(image, roi, settings)
        if settings["additionalInfo"]:
            add(_image_diagnostics(image, "interpolated", False))
            add(_mask_diagnostics(roi, "interpolated", image))
    elif settings["preCrop"]:
        roi, lower, upper = check(image, roi, settings)
        image, roi = (volume.cropped(lower, upper, settings["padDistance"]) for volume in (image, roi))

    given = roi
    roi, lower, upper = check(image, given, settings)
    if roi is not given and settings["additionalInfo"]:
        add(_mask_diagnostics(roi, "corrected", image))
    if settings["resegmentRange"] is not None:
        roi, lower, upper = check(image, _resegmented(image, roi, settings), settings)
        if settings["additionalInfo"]:
            add(_mask_diagnostics(roi, "resegmented", image))
    # PyRadiomics crops along all axes, with force2D too.
    box = image.box(lower, upper, settings["kernelRadius"])
    return Prepared(image.part(box), roi.part(box), diagnostics, image, box)
