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
"""Features of ITK 5.3 and 5.4 that ITK 5.2 lacks. Remove this file when the module requires a newer ITK."""

import copyreg

import itk
import numpy as np


def complete_xarray(value):
    """Copy of a DataArray that itk.image_from_xarray accepts: with coordinates, and with no attribute but direction."""
    value = value.copy(deep=False)
    value.attrs = {k: v for k, v in value.attrs.items() if k == "direction"}
    for dim in value.dims:
        if dim not in value.coords:
            value = value.assign_coords({dim: np.arange(value.sizes[dim], dtype=float)})
    return value


def array_view(image):
    """itk.array_view_from_image, but with an axis of components for vector images of one component too."""
    view = itk.array_view_from_image(image)
    if itk.template(image)[0] is itk.VectorImage and view.ndim == image.GetImageDimension():
        view = view.reshape(view.shape + (1,))
    return view


def _unpickle_image(template, parameters, array, index, origin, spacing, direction):
    pixel, dimension = parameters
    image = getattr(itk, template)[getattr(itk, pixel), dimension].New()
    region = itk.ImageRegion[dimension]()
    region.SetIndex(index)
    region.SetSize([int(n) for n in array.shape[dimension - 1 :: -1]])
    image.SetRegions(region)
    if template == "VectorImage":
        image.SetNumberOfComponentsPerPixel(array.shape[-1])
    image.Allocate()
    image.SetOrigin(origin)
    image.SetSpacing(spacing)
    image.SetDirection(itk.matrix_from_array(direction))
    array_view(image)[...] = array
    return image


def _reduce_image(image):
    template, (pixel, dimension) = itk.template(image)
    return _unpickle_image, (
        template.__name__.split("::")[-1],
        (pixel.short_name, dimension),
        np.array(array_view(image)),
        [int(i) for i in image.GetBufferedRegion().GetIndex()],
        list(image.GetOrigin()),
        list(image.GetSpacing()),
        itk.array_from_matrix(image.GetDirection()),
    )


def add_pickling():
    """Make images and vector images picklable, with their geometry but without their metadata."""
    if hasattr(itk, "dict_from_image"):
        return
    for template in (itk.Image, itk.VectorImage):
        for pixel in ("UC", "US", "SS", "F", "D"):
            for dimension in (2, 3):
                cls = getattr(template, f"{pixel}{dimension}", None)
                if cls is not None:
                    copyreg.pickle(cls, _reduce_image)
