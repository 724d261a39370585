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
"""Labels of voxels from seeds that are edited again and again."""

import threading
from collections.abc import Mapping

import numpy as np

from . import _filters, _images
from ._itk import itk

# After the check of ITK's version.
from itk.support.helpers import camel_to_snake_case, snake_to_camel_case

_AFFINITY = ("object_mean", "object_variance", "difference_mean", "difference_variance")
_AFFINITY_OF_VECTORS = ("object_mean_vector", "object_covariance", "difference_mean_vector", "difference_covariance")


class SeedSession:
    """Labels all voxels of an image from labeled seeds, again and again, while a user adds and deletes seeds.

    The first update() contracts the image to a small graph, which the session keeps; later ones take a fraction of the time.
    Labels are the same as those of itk.relative_fuzzy_connectedness_image_filter with the same seeds and the same affinity.

        with voxelmaps.SeedSession(image) as session:
            labels = session.update(strokes)
            strokes[10, 40:60, 52] = 3
            labels = session.update(strokes)
            margin = session.margin

    image         itk.Image, NumPy array or xarray.DataArray with 2 or 3 dimensions; it is copied. If the axes of a DataArray
                  are not z, y, x, seeds and masks must be images or DataArrays, and the labels have the axes z, y, x.
    label_type    Type of the labels: numpy.uint8 for labels up to 255, or numpy.uint16 for labels up to 65535.

    All other arguments are parameters of the filter by name, such as mask_image, competition, tie_rule, minimum_strength
    and adjacency; see itk.RelativeFuzzyConnectednessImageFilter.

    Affinity. If none of object_mean, object_variance, difference_mean and difference_variance is given, the first update()
    estimates them from its seeds, and the session then keeps this estimate: another affinity would change labels far from
    the edited seed, and would need another graph. reestimate() makes the next update() estimate again;
    estimate_affinity_from_seeds=False keeps the filter's defaults, and estimate_affinity_from_seeds=True estimates at every
    update(). affinity_function="absolute_difference" has nothing to estimate. With affinities of single labels, such as
    object_mean={1: 40, 2: 120} or estimate_affinity_of_every_label=True, there is no graph to keep, so that every update()
    takes as long as the first.

    Threads. Methods of one session wait for each other.

    Memory. About 7 bytes per voxel with 6 neighbors, as memory says, beside the copy of the image and the labels. release() gives it
    back; the next update() makes the graph again. A session used in a with statement releases it at the end.

    Raises TypeError, ValueError or RuntimeError that name the value, for what the filter refuses.
    """

    def __init__(self, image, *, label_type=np.uint16, **parameters):
        pixels = {np.dtype(np.uint8): itk.UC, np.dtype(np.uint16): itk.US}
        if np.dtype(label_type) not in pixels:
            raise ValueError(f"label_type {np.dtype(label_type)} is not valid; choose from uint8, uint16")
        parameters = self._named(parameters)
        self._lock = threading.RLock()
        self._given = image
        self._check_axes(parameters)
        self._filter, self._given = _filters.make(
            itk.RelativeFuzzyConnectednessImageFilter, [image], {"keep_hierarchy": True}, pixels[np.dtype(label_type)]
        )
        # The graph is only right for the voxels that it was made of.
        self._filter.SetInput(_images.copy_of(self._filter.GetInput()))
        self._filter.voxelmaps_input = None
        # Values of single labels, by the name of the parameter.
        self._of_labels = {}
        self._set(parameters)
        self._is_affinity_given = self._gives_affinity(parameters)
        self._needs_estimate = True
        # What the last update() computed, by name; None if it did not succeed.
        self._images = None

    def __reduce_ex__(self, protocol):
        raise TypeError("a SeedSession cannot be copied or pickled; make another one of the same image")

    @staticmethod
    def _named(parameters):
        """Parameters by their names in snake case; ITK also takes ObjectMean for object_mean."""
        named = {name if name.islower() else camel_to_snake_case(name): value for name, value in parameters.items()}
        if len(named) < len(parameters):
            raise TypeError(f"a parameter is given twice among {', '.join(parameters)}")
        for name in ("seed_image", "seeds"):
            if name in named:
                raise TypeError(f"{name} is the first argument of update(), not a parameter")
        return named

    @staticmethod
    def _gives_affinity(parameters):
        return any(name in parameters for name in (*_AFFINITY, *_AFFINITY_OF_VECTORS, "estimate_affinity_from_seeds"))

    def _check_axes(self, images):
        for name, value in images.items():
            if name in ("mask_image", "seeds"):
                _images.check_axes(value, self._given, name)

    def _set(self, parameters):
        """Set parameters of the filter. If one is refused, all are as they were."""
        former_of_labels = {name: dict(values) for name, values in self._of_labels.items()}
        former = {}
        try:
            for name, value in parameters.items():
                if name == "mask_image":
                    value = self._copied(value, "MaskImage", itk.UC)
                getter = getattr(self._filter, "Get" + snake_to_camel_case(name), None)
                if getter is not None:
                    former[name] = self._own(getter())
                if name in _AFFINITY + _AFFINITY_OF_VECTORS:
                    if isinstance(value, Mapping):
                        self._of_labels.setdefault(name, {}).update(value)
                    else:
                        self._of_labels.pop(name, None)
                itk.set_inputs(self._filter, inkargs={name: value})
            self._set_affinities_of_labels()
        except BaseException:
            self._of_labels = former_of_labels
            self._restore(former)
            raise
        return former, former_of_labels

    def _restore(self, former):
        itk.set_inputs(self._filter, inkargs=former)
        self._set_affinities_of_labels()

    @staticmethod
    def _own(value):
        """A value that the next one does not overwrite: getters of fixed arrays return a reference."""
        is_reference = hasattr(value, "__len__") and not isinstance(value, (str, np.ndarray, itk.DataObject))
        return list(value) if is_reference else value

    def _set_affinities_of_labels(self):
        self._filter.ClearAffinitiesOfLabels()
        for name, values in self._of_labels.items():
            itk.set_inputs(self._filter, inkargs={name: values})

    def _copied(self, value, name, pixel):
        """An image of the filter's own, since the caller may change or delete the given one."""
        image = self._filter.GetInput()
        return _images.integer_image(value, image, image.GetImageDimension(), name, pixel, copy=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def update(self, seeds, **parameters):
        """Label all voxels; returns labels of the kind and the shape of the image.

        seeds    An image, array or DataArray of labels with the size of the image; 0 is no seed. Or a dict that maps each
                 label to an index or a list of indices, in ITK's order x, y, z. All seeds, not only new ones. They are copied.

        All other arguments are parameters of the filter by name, which remain for later updates, such as
        competition="iterative". The graph is made again if it depends on them: mask_image, the affinity, adjacency and
        distance_weighting. affinity_function and estimation_radius also make an estimated affinity be estimated again.

        Labels are 0 where no seed reaches, and for ties unless tie_rule is "lowest_label". If this raises an exception,
        such as a RuntimeError because there is no seed, all parameters are as they were before, and the session can go on.
        """
        with self._lock:
            parameters = self._named(parameters)
            self._images = None
            self._check_axes({**parameters, "seeds": seeds})
            if not isinstance(seeds, Mapping):
                seeds = self._copied(seeds, "SeedImage", _filters.label_pixel(self._filter))
                if seeds is None:
                    raise TypeError("seeds must be an image, an array or a dict of labels, not None")
            is_affinity_given = self._is_affinity_given or self._gives_affinity(parameters)
            needs_estimate = self._needs_estimate or bool({"affinity_function", "estimation_radius"} & set(parameters))
            if self._gives_affinity(parameters):
                parameters = {"estimate_affinity_from_seeds": False, **parameters}
            former, former_of_labels = self._set(parameters)
            estimates = needs_estimate and not is_affinity_given and not self._filter.GetEstimateAffinityOfEveryLabel()
            try:
                labels = self._update(seeds, estimates)
            except BaseException:
                self._images = None
                self._of_labels = former_of_labels
                self._restore(former)
                raise
            self._is_affinity_given = is_affinity_given
            self._needs_estimate = needs_estimate and not estimates
            return labels

    def _update(self, seeds, estimates):
        instance = self._filter
        if isinstance(seeds, Mapping):
            instance.SetSeeds(seeds)
            instance.SetSeedImage(None)
        else:
            instance.SetSeedImage(seeds)
            instance.ClearSeeds()
        if not estimates:
            return self._run()
        instance.SetEstimateAffinityFromSeeds(True)
        try:
            labels = self._run()
        finally:
            instance.SetEstimateAffinityFromSeeds(False)
        # The same numbers, so that the graph remains.
        itk.set_inputs(instance, inkargs=self.affinity)
        return labels

    def _run(self):
        """Update the filter; returns the labels, and keeps the other images that it generates."""
        result = _filters.run_with_labels(self._filter)
        images = {name: image for name, image in result._asdict().items() if image is not None}
        for image in images.values():
            # The next run must not write into it.
            image.DisconnectPipeline()
        self._images = {**(self._images or {}), **images}
        return self._converted("labels")

    def _converted(self, name):
        return _images.like_input(self._images[name], None, self._given)

    def _image(self, name, switch):
        with self._lock:
            if self._images is None:
                raise RuntimeError(f"there is no {name}: the last update() did not succeed, or there was none")
            if name not in self._images:
                switch(True)
                try:
                    self._run()
                finally:
                    switch(False)
            return self._converted(name)

    @property
    def strength(self):
        """Strength of the winner of the last update(), in [0, 1], of the kind and shape of the image. It is computed when it is
        first read, in about the time of an update(); with generate_strength_image=True, by each update()."""
        return self._image("strength", self._filter.SetGenerateStrengthImage)

    @property
    def margin(self):
        """Strength of the winner minus that of the strongest other label of the last update(), in [0, 1], of the kind and shape
        of the image: how certain the label is. It is computed when it is first read, in about the time of an update(); with
        generate_margin_image=True, by each update()."""
        return self._image("margin", self._filter.SetGenerateMarginImage)

    @property
    def affinity(self):
        """Dict of the means and variances that the last update() used, with the names of the parameters. The function
        itk.relative_fuzzy_connectedness_image_filter(image, seed_image=seeds, **session.affinity) gives the same labels, if
        the other parameters are the same. Affinities of single labels are not in it."""
        is_vector = itk.template(self._filter.GetInput())[0] is itk.VectorImage
        names = _AFFINITY_OF_VECTORS if is_vector else _AFFINITY
        return {name: getattr(self._filter, "GetUsed" + snake_to_camel_case(name))() for name in names}

    def reestimate(self):
        """Let the next update() estimate one affinity of all labels from its seeds, and keep that. Drops affinities of
        single labels."""
        with self._lock:
            self._of_labels = {}
            self._set_affinities_of_labels()
            self._filter.SetEstimateAffinityFromSeeds(False)
            self._filter.SetEstimateAffinityOfEveryLabel(False)
            self._is_affinity_given = False
            self._needs_estimate = True

    @property
    def memory(self):
        """Number of bytes of the graph that the session keeps now."""
        return self._filter.GetMemoryOfHierarchy()

    def release(self):
        """Give the memory of the graph back. The next update() makes it again."""
        with self._lock:
            self._filter.ReleaseHierarchy()
