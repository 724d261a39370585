# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Feature maps by name, which are parts of one array with the geometry of an image, and what can be made of them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Iterable, Iterator, Literal, NamedTuple, TypeVar, overload

import numpy as np

from . import _arrays, _image, _masks
from ._files import library, nifti
from ._suggestions import did_you_mean

if TYPE_CHECKING:
    import pathlib

    import pandas
    import xarray

    from ._types import Array, ArrayT, ImageLike, Path
else:
    ArrayT = TypeVar("ArrayT")

_FORMATS = (".nii.gz", ".nii", ".nrrd")


class Geometry(NamedTuple):
    """Where the voxels of an image are, in the order x, y, z, as ITK has it; the direction is row by row."""

    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    direction: tuple[float, ...]


def entry_of(value: Any, volume: _image.Image | None = None) -> dict[str, Any]:
    """What a record has of an input: the file behind it, if it is a path or has one, and SHA-256 of a volume, if it is given."""
    path, files, sha256 = _image.source(value), {}, None
    if volume is not None:
        import hashlib

        sha = hashlib.sha256(repr((volume.array.dtype.str, volume.array.shape, volume[1:])).encode())
        sha.update(np.ascontiguousarray(volume.array))  # type: ignore[arg-type]
        sha256 = sha.hexdigest()
    # What is in memory may have changed since it was read.
    if isinstance(value, (str, os.PathLike)):
        from ._outputs import states

        files = states(path)
    return {"path": path and os.path.abspath(path), "files": files, "sha256": sha256}


def provenance(inputs: Mapping[str, Any], settings: Mapping[str, Any], unused: Iterable[str] = ()) -> dict[str, Any]:
    """What maps come from: entries of inputs, and settings, but for those that maps do not depend on."""
    known = {name: value for name, value in settings.items() if value is not None and name not in unused}
    return {"inputs": {name: entry_of(value) for name, value in inputs.items() if value is not None}, "settings": known}


@dataclasses.dataclass(eq=False, repr=False)
class FeatureMaps(Mapping[str, ArrayT], Generic[ArrayT]):
    """Feature maps by name: maps["glcm_Contrast"], or several of them, maps[["glcm_Contrast", "glcm_Id"]].

    All maps are parts of one array, which numpy.asarray(maps) is. What is made of maps has their geometry; without one, the spacing
    is 1, and the origin is the index of the first voxel in the input. Maps in device memory are copied to the host.

    Parameters
    ----------
    names : list of str
        Names of the maps.
    array : array
        All maps in the order of the names, with the number of maps before the shape of a map.
    slices : tuple of slice
        The part of the input that the maps cover: slices of its last axes; empty for maps of files.
    geometry : Geometry, optional
        Spacing (mm), origin and direction of the maps, in the order x, y, z of ITK; None for maps of arrays without spacing.
    input_shape : tuple of int, optional
        Shape of the input; None for maps of files.
    axes : dict, optional
        Names of the axes of a DataArray, and their coordinates or None; None for maps of other kinds.
    order : tuple of int, optional
        For z, y and x, the number of this axis among those of a map, if they are in another order.
    provenance : dict, optional
        Inputs and settings that the maps come from, as provenance.json of a folder has them; None if they are not known.

    Examples
    --------
    >>> import numpy as np, voxelmaps
    >>> image = np.arange(600, dtype=np.float32).reshape(6, 10, 10)
    >>> maps = voxelmaps.feature_maps(image, image > 400, features=["firstorder_Mean", "glcm_Contrast"], crop="mask")
    >>> list(maps), maps.array.shape, maps["glcm_Contrast"].shape
    (['firstorder_Mean', 'glcm_Contrast'], (2, 4, 10, 10), (4, 10, 10))
    >>> image[maps.slices].shape
    (4, 10, 10)
    >>> maps[["glcm_Contrast"]]
    FeatureMaps(1 map of shape (4, 10, 10): glcm_Contrast)
    """

    names: dataclasses.InitVar[Iterable[str]]
    array: ArrayT
    slices: tuple[slice, ...]
    geometry: Geometry | None = None
    input_shape: tuple[int, ...] | None = None
    axes: Mapping[str, Any] | None = None
    order: tuple[int, ...] | None = None
    provenance: Mapping[str, Any] | None = None

    def __post_init__(self, names: Iterable[str]) -> None:
        self._index = {name: i for i, name in enumerate(names)}

    @overload
    def __getitem__(self, name: str) -> ArrayT: ...
    @overload
    def __getitem__(self, name: list[str]) -> FeatureMaps[ArrayT]: ...
    def __getitem__(self, name: str | list[str]) -> Any:
        names = list(name) if isinstance(name, Iterable) and not isinstance(name, str) else [name]
        for each in names:
            if not isinstance(each, str) or each not in self._index:
                raise KeyError(f"there is no map {each!r}{did_you_mean(each, self)}; the maps are {', '.join(self)}")
        if isinstance(name, str):
            return self.array[self._index[name]]
        if len(set(names)) < len(names):
            raise ValueError(f"the names {', '.join(names)} must be different")
        given = _arrays.array_of(self.array, "maps")
        with given.library.current_device():
            part = given.array[[self._index[each] for each in names]]
        return dataclasses.replace(self, names=names, array=given.library.result(part))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        given = _arrays.array_of(self.array, "maps")
        if copy is False and given.library.device is not None:
            raise ValueError(f"the maps are in {given.library}: without a copy, there is no NumPy array of them")
        array = given.host()
        if copy is False and dtype not in (None, array.dtype):
            raise ValueError(
                f"the maps are of {array.dtype}: without a copy, there is no array of {np.dtype(dtype)} of them"
            )
        return array.astype(array.dtype if dtype is None else dtype, copy=bool(copy))

    def _repr_png_(self) -> bytes | None:
        """The picture that notebooks show: the first maps, in a slice of the region; None without matplotlib."""
        from ._pictures import picture_of_maps

        return picture_of_maps(self)

    def __repr__(self) -> str:
        shape, names = tuple(self.array.shape[1:]), [*self]
        names = names if len(names) < 6 else [*names[:4], "...", names[-1]]
        return f"FeatureMaps({len(self)} map{'s' * (len(self) != 1)} of shape {shape}: {', '.join(names)})"

    def __eq__(self, other: object) -> bool:
        """Whether names, geometry and values are the same; NaN is equal to itself."""
        if not isinstance(other, FeatureMaps):
            return NotImplemented
        is_same = (list(self), self.slices, self.geometry) == (list(other), other.slices, other.geometry)
        return is_same and np.array_equal(np.asarray(self), np.asarray(other), equal_nan=True)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _image(self) -> Any:
        """All maps in host memory, as one Image whose array has the maps as its first axis."""
        array, n = _image.turned(np.asarray(self), self.order), len(self.array.shape) - 1
        if n not in (2, 3) or self.geometry is not None and len(self.geometry.spacing) != n:
            raise ValueError(
                f"maps have the shape {array.shape[1:]}, but those of one image have 2 or 3 axes: choose an image of the batch, such "
                "as FeatureMaps(maps, maps.array[:, 0], maps.slices)"
            )
        if self.geometry is not None:
            return _image.Image(array, *self.geometry)
        start = [float(part.start or 0) for part in self.slices]
        first = tuple(reversed([start[axis] for axis in self.order] if self.order else start))
        return _image.Image(array, (1.0,) * n, first + (0.0,) * (n - len(first)), tuple(np.eye(n).ravel().tolist()))

    def to_images(self, kind: Literal["itk", "sitk", "nibabel"] = "itk") -> dict[str, Any]:
        """Convert the maps to images of ITK, SimpleITK or nibabel, with the geometry of the maps.

        Parameters
        ----------
        kind : {"itk", "sitk", "nibabel"}, default "itk"
            Library of the images.

        Returns
        -------
        dict
            Images by name of the map.

        Raises
        ------
        ValueError
            For another kind, for maps of a batch, and for nibabel, whose images are NIfTI, for a sheared geometry.

        Examples
        --------
        >>> import numpy as np, voxelmaps
        >>> maps = voxelmaps.feature_maps(np.arange(60.0).reshape(3, 4, 5), features="firstorder_Mean")
        >>> maps.to_images("sitk")["firstorder_Mean"].GetSize()
        (5, 4, 3)
        """
        kinds = {"itk": _image.to_itk, "sitk": _image.to_simpleitk, "nibabel": _image.to_nibabel}
        if kind not in kinds:
            raise ValueError(f"kind is {kind!r}{did_you_mean(kind, kinds)}, but must be {', '.join(kinds)}")
        image = self._image()
        if kind == "nibabel":
            nifti.check_orthogonal(image)
        return {name: kinds[kind](image.with_array(array)) for name, array in zip(self, image.array)}

    def to_xarray(self) -> xarray.DataArray:
        """Convert the maps to a DataArray with the axis feature and those of the input.

        Returns
        -------
        xarray.DataArray
            Its axes are by default z, y and x, with coordinates in mm (LPS) or in the unit of the input. Its attribute direction is row by
            row, in the order z, y, x, which to_netcdf can write.

        Examples
        --------
        >>> import numpy as np, voxelmaps
        >>> maps = voxelmaps.feature_maps(np.arange(60.0).reshape(3, 4, 5), features="firstorder_Mean")
        >>> maps.to_xarray().sel(feature="firstorder_Mean", z=1).dims
        ('y', 'x')
        """
        xarray = library("xarray", "to_xarray", extra="all")
        image = self._image()
        axes = dict(self.axes or {})
        for name, part in zip(list(axes)[-len(self.slices) :], self.slices):
            axes[name] = None if axes[name] is None else axes[name][part]
        features = xarray.Variable("feature", list(self))
        maps = [_image.to_xarray(image.with_array(array), axes or None) for array in image.array]
        result = xarray.concat(maps, features)
        if self.geometry is None:
            del result.attrs["direction"]
        return result

    def to_dataframe(self, mask: Array | ImageLike | Path | None = None, label: Any = None) -> pandas.DataFrame:
        """Make a table with a row for each voxel of a mask, and a column for each map.

        Parameters
        ----------
        mask : array, image or path, optional
            Mask of the input of the maps, or of the part that they cover, as in feature_maps. Default: all voxels of the maps.
        label : int or list of int, optional
            Label that is inside, if the mask has several, or a list of labels that are inside together.

        Returns
        -------
        pandas.DataFrame
            The index of a row is that of its voxel in the input: z, y, x, or the axes of a DataArray.

        Raises
        ------
        ValueError
            If a voxel of the mask has no maps.

        Examples
        --------
        >>> import numpy as np, voxelmaps
        >>> image = np.arange(60.0).reshape(3, 4, 5)
        >>> maps = voxelmaps.feature_maps(image, image > 40, features="firstorder_Minimum", neighborhood_radius=1, crop="mask")
        >>> maps.to_dataframe(image > 57)["firstorder_Minimum"].to_dict()
        {(2, 3, 3): 52.0, (2, 3, 4): 53.0}
        """
        pandas = library("pandas", "to_dataframe", extra="all")
        image, array = self._image(), np.asarray(self)
        shape, dimension = array.shape[1:], array.ndim - 1
        # Index of the first voxel of the maps, in the input and in the mask.
        start = first = [0] * (dimension - len(self.slices)) + [part.start or 0 for part in self.slices]
        if mask is None:
            local = np.indices(shape).reshape(dimension, -1)
        else:
            opened = _image.opened(_image.in_order(mask, self.axes), "mask")
            inside = opened.image.with_array(_masks.region(_arrays.array_of(opened.image.array, "mask"), label).host())
            if inside.spacing is not None and self.geometry is not None:
                grid = image.with_array(image.array[0])
                part = _image.covered_part(inside, grid, "the grid of the maps", "mask")
                first = [each.start for each in _image.as_given(part, self.order)]
                values = _image.turned(inside.array, self.order, is_reversed=True)
            else:
                values = _image.turned(inside.array, opened.order, is_reversed=True)
                if values.shape == shape:
                    first = [0] * dimension
                elif values.shape != self.input_shape:
                    raise ValueError(
                        f"mask has the shape {values.shape}, but the maps have {shape}, and their input {self.input_shape}"
                    )
            local = np.array(np.nonzero(values)) - np.reshape(first, (-1, 1))
            outside = int(((local < 0) | (local >= np.reshape(shape, (-1, 1)))).any(axis=0).sum())
            if outside:
                raise ValueError(
                    f"the mask has {outside} of its {local.shape[1]} voxels outside of the maps: compute them with this mask"
                )
        names = list(self.axes or _image.as_given(("z", "y", "x")[-dimension:], self.order))[-dimension:]
        index = pandas.MultiIndex.from_arrays([axis + i for axis, i in zip(local, start)], names=names)
        return pandas.DataFrame(array[(slice(None), *local)].T, index, list(self))

    def save(
        self, path: Path, format: Literal["nii.gz", "nii", "nrrd"] | None = None, *, overwrite: bool = False
    ) -> list[pathlib.Path]:
        """Write the maps with their geometry to files, which read_maps reads.

        Parameters
        ----------
        path : path
            A folder, for one file per map, such as glcm_Contrast.nii.gz; or a file: maps.nrrd for all maps as components, with their names,
            or a NIfTI file for a single map.
        format : {"nii.gz", "nii", "nrrd"}, optional
            Format of the files of a folder. Default: nii.gz.
        overwrite : bool, default False
            Whether maps of other images or settings, and files of other programs, are replaced. Inputs never are.

        Returns
        -------
        list of pathlib.Path
            Paths of the files, which appear when all are complete. A folder also gets provenance.json, with what the maps come from.
            Maps of the same files and settings are added to those of a folder.

        Raises
        ------
        ValueError
            If the format cannot hold the names, or the geometry: axes of NIfTI are orthogonal; or if an input of the maps would be
            replaced.
        FileExistsError
            For maps of another run, or files of other programs, unless overwrite is True.
        ImportError
            Without nibabel for NIfTI.

        Examples
        --------
        >>> import numpy as np, voxelmaps
        >>> maps = voxelmaps.feature_maps(np.arange(60.0).reshape(3, 4, 5), features=["firstorder_Mean", "glcm_Contrast"])
        >>> [path.name for path in maps.save("maps")]
        ['firstorder_Mean.nii.gz', 'glcm_Contrast.nii.gz']
        >>> [path.name for path in maps.save("maps.nrrd")]
        ['maps.nrrd']
        """
        import pathlib

        from . import _outputs
        from ._files import paths, writing

        place = pathlib.Path(path)
        suffix = next((each for each in _FORMATS if place.name.endswith(each)), None)
        if format is not None and (suffix or f".{format}" not in _FORMATS):
            rule = f"has no effect on the file {place}" if suffix else "must be nii.gz, nii or nrrd"
            raise ValueError(f"format is {format!r}, but {rule}")
        if place.suffix.lower() in _outputs.ENDINGS and suffix is None:
            raise ValueError(f"{place} has the ending {place.suffix}, but files of maps are .nrrd, .nii.gz or .nii")
        if not self or 0 in self.array.shape:
            raise ValueError("there are no maps to save, or they have no voxels")
        for name in self:
            if not name or set(name) & set("/\\,"):
                raise ValueError(f"the map {name!r} has a name with a comma or slash, or none, which files cannot hold")
        image = self._image()
        if suffix in (".nii.gz", ".nii") and len(self) != 1:
            raise ValueError(f"{place} cannot hold the names of {len(self)} maps: give a folder, or maps.nrrd")
        if suffix != ".nrrd" and format != "nrrd":
            nifti.check_orthogonal(image)
        files = {name: f"{name}.{format or 'nii.gz'}" for name in self}
        origin = {"inputs": {"image": entry_of(None)}, "settings": {}, **(self.provenance or {})}
        inputs = [(f"the {name}", entry["path"]) for name, entry in origin["inputs"].items()]
        if suffix is not None:
            _outputs.check_inputs(inputs, files=[("the file", place)])
            with paths.output_folder(place.parent) as folder:
                array = np.moveaxis(image.array, 0, -1) if len(self) > 1 else image.array[0]
                writing.write_image(image.with_array(array), place, folder, list(self))
                if not overwrite:
                    _outputs.check_file(place, "overwrite=True", *folder.files.values())
                folder.publish()
            return [place]
        _outputs.check_inputs(inputs, [("the folder", str(place), [*files.values(), paths.PROVENANCE])])
        settings = {**origin["settings"], "format": format or "nii.gz", **_outputs.version()}
        maps_folder = _outputs.MapsFolder(place, origin["inputs"], settings, overwrite)
        with paths.output_folder(place) as folder:
            for name, array in zip(self, image.array):
                writing.write_image(image.with_array(array), place / files[name], folder, [name])
            entries = {name: {"file": file} for name, file in files.items()}
            maps_folder.publish(folder, entries, {}, origin.get("program", "voxelmaps.FeatureMaps.save"))
        return [place / file for file in files.values()]
