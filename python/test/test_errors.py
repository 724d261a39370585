# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of functions of arrays are errors that name the value, the rule and the remedy. Needs no ITK."""

import itertools
import re

import numpy as np
import pytest
import voxelmaps
from array_libraries import needs_device
from voxelmaps import _feature_maps, _image, _parameters, _suggestions
from voxelmaps.radiomics._settings import SETTINGS

X = np.random.default_rng(1).integers(0, 200, (6, 8, 9)).astype(np.int16)
SEED = (1, 2, 3)


class Volumeter:
    """An image of a library that is not known here."""

    affine = np.eye(4)

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


# Names in the calls below.
NAMES = {
    "np": np,
    "voxelmaps": voxelmaps,
    "X": X,
    "image": _image.Image(X, (0.5, 0.75, 3.0), (0.0, 0.0, 0.0), tuple(np.eye(3).ravel())),
    "vectors": lambda components: np.zeros((6, 8, 9, components)),
    "floats": X.astype(np.float32),
    "region": np.ones(X.shape, np.uint8),
    "half": np.broadcast_to(np.arange(9) > 3, X.shape),
    "estimated": {"affinity": "geometric_mean", "competition": "relative"},
    "given": {
        **{"affinity": "geometric_mean", "competition": "relative"},
        **{"object_mean": 120, "object_variance": 2500, "difference_variance": 400},
    },
    "maps": lambda x=X, features="glcm_Contrast", **k: voxelmaps.feature_maps(x, features=features, **k),
    "three": voxelmaps.feature_maps(X, features=["glcm_Contrast", "glcm_Id", "firstorder_Mean"]),
    "regions": lambda **k: voxelmaps.region_features(**{"image": X, "mask": X > 40, "features": "glcm", **k}),
    "parts": np.repeat([1, 1, 2, 0], 108).reshape(X.shape),
    "filtered": lambda name="LoG", x=X, **k: voxelmaps.filter_image(x, name, **k),
    "describe": lambda x=X, features="glcm", **k: voxelmaps.describe(x, features=features, **k),
    "strength": lambda x=X, seeds=SEED, **k: voxelmaps.fuzzy_connectedness(x, seeds, **k),
    "labels": lambda x=X, seeds={1: SEED}, **k: voxelmaps.labels(x, seeds, **k),
    "session": lambda x=X, seeds={1: SEED}, **k: voxelmaps.SeedSession(x, **k).update(seeds),
    "update": lambda seeds={1: SEED}, **k: voxelmaps.SeedSession(X).update(seeds, **k),
    "transform": voxelmaps.FeatureMapsd,
    "threshold": voxelmaps.suggest_threshold,
    "sample": voxelmaps.sample_ct,
    "volumeter": Volumeter,
}

# Calls, and the type of the error and a part of its text. Without out and seed_points, sessions have the errors of labels.
ERRORS = {
    # Features.
    "maps(features='glcm_Nope')": "ValueError: class glcm has no feature 'Nope'; choose from Autocorrelation",
    "maps(features='firstorder_quartile_coefficient_of_dispersion')": "ValueError: class firstorder has no feature 'quartile_",
    "maps(features=['glcm', 'glcm_Contrast'])": "ValueError: glcm_Contrast is given twice",
    "maps(features=['glrlm_RunEntropy', 'glrlm_run_entropy'])": "ValueError: glrlm_run_entropy is given twice, also as glrlm_Run",
    "maps(features=5)": "TypeError: features are 5",
    "maps(features={'glcm': ['Contrast', 3]})": "TypeError: must be names",
    "maps(features='all')": r"ValueError: did you mean \['firstorder', 'glcm', 'gldm', 'glrlm', 'glszm', 'ngtdm'\]",
    "maps(features='original_glcm_Contrast')": "ValueError: did you mean glcm_Contrast",
    "maps(features='wavelet-LLH_glcm_Contrast')": "ValueError: did you mean glcm_Contrast",
    "maps(features='Coarseness')": "ValueError: did you mean ngtdm_Coarseness",
    "maps(features='ngtdm_Busynes')": "ValueError: did you mean Busyness",
    "voxelmaps.feature_maps(X)": r"TypeError: feature_maps needs the features to compute, such as features=\['glcm_Contrast'\]",
    # Names of other libraries, and mistakes in names.
    **{
        f"maps({name}=1)": rf"TypeError: ^(feature_maps|describe) has no parameter {name} \({advice}\)$"
        for name, advice in {
            "kernelRadius": r"did you mean neighborhood_radius\?",
            "binCount": r"did you mean bin_count\?",
            "binWidth": r"did you mean bin_width\?",
            "bin_with": r"did you mean bin_width\?",
            "radius": r"did you mean radius_mm or neighborhood_radius\?",
            "voxelArrayShift": r"did you mean voxel_array_shift\?",
            "weightingNorm": r"did you mean weighting_norm\?",
            "force2D": r"did you mean neighborhood_radius=\(0, 1, 1\), which keeps windows in slices with one set of gray levels\?",
            "zooms": r"did you mean spacing\?",
            "affine": r"did you mean spacing; or pass an image that has an affine\?",
            "normalize": "this is a setting of voxelmaps.radiomics.execute",
            "featureClass": r"did you mean features\?",
        }.items()
    },
    **{
        f"labels({name}=1)": f"TypeError: has no parameter {name} .did you mean {meant}."
        for name, meant in {
            "mask_image": "mask",
            "affinity_function": "affinity",
            "generate_margin_image": "margin",
            "inside_pixel_value": "label",
            "estimate_affinity_of_every_label": "estimate_of_every_label",
            "tie_rules": "tie_rule",
        }.items()
    },
    # Gray levels and windows.
    "strength(seeds=(X == 5) + 2 * (X == 6))": "ValueError: ^seeds has the labels 1, 2, but must be the seeds of one object: choose one, ",
    "threshold(X / 200, (X == 5) + 2 * (X == 6))": "ValueError: ^seeds has the labels 1, 2, but must be the seeds of one object",
    "maps(['1.dcm', '2.dcm'])": "TypeError: ^image is a list of texts or paths; pass one path, such as that of the folder of a DICOM series$",
    "maps(bin_width=-1)": "ValueError: ^bin_width is -1, but must be a number greater than 0 and finite$",
    "maps(bin_edges=[2, 1])": r"ValueError: ^bin_edges is \[2, 1\], but must be finite numbers, each greater than the one before$",
    "maps(intensity_range=(1000, 2000))": "ValueError: ^intensity_range is for intensities from 1000 to 2000, but the image has . to 199: is it in "
    r"other units\?$",
    "maps(np.where(X > 9, X, np.nan), bin_edges=[300, 400])": "ValueError: ^bin_edges is for intensities from 300 to inf, but the image has 10 to",
    "maps(X * 0, largest_gray_level=4)": "ValueError: ^largest_gray_level is for intensities from 1 to 4, but the image has 0 to 0",
    "regions(bin_edges=[300, 400])": "ValueError: ^bin_edges is for intensities from 300 to inf, but the image has 41 to 199 inside the mask: is it in other units",
    "maps(np.where(X > 99, 900, X), mask=(X > 9) & (X < 99), intensity_range=(300, 900))": "ValueError: but the image has 10 to 98 inside the mask: ",
    "maps(intensity_range=(1, 0))": "ValueError: but must be 'mask', 'image' or two numbers, the lower one first$",
    "maps(bin_width='narrow')": "TypeError: bin_width is 'narrow', but must be a number",
    "maps(bin_edges=3)": "TypeError: bin_edges is 3, but must be a list of numbers",
    "maps(intensity_range=(1, 2, 3))": r"ValueError: intensity_range is \(1, 2, 3\)",
    "maps(features='gldm', alpha=1.5)": "TypeError: alpha is 1.5, but must be an integer",
    "maps(distances=[])": "ValueError: distances is empty",
    "maps(distances=9, neighborhood_radius=1)": "ValueError: distances is",
    "maps(background_value=1e300)": "ValueError: float32 holds values up to",
    "maps(window_size=300)": "ValueError: at most 255 voxels",
    "maps(window_size=3, window_anchor=3)": r"ValueError: window_anchor is \(3, 3, 3\), but must be inside the window, which has",
    "maps(window_size=99)": r"ValueError: window_size is 99, which makes windows of \(99, 99, 99\), but .* 65535 in all are possible",
    "maps(neighborhood_radius=(1, 2))": "ValueError: one per axis",
    "maps(neighborhood_radius=-1)": "ValueError: neighborhood_radius is -1, but must be one integer from 0 to 65535, or 3 of them, "
    "one per axis$",
    "maps(radius_mm=0.4, spacing=(3, 0.75, 0.5))": "ValueError: radius_mm is 0.4, which reaches no neighbor of a voxel: its sizes are "
    r"\(3.0, 0.75, 0.5\) mm$",
    "maps(radius_mm=2, neighborhood_radius=1)": "ValueError: neighborhood_radius and radius_mm are given, but only one of them can be used$",
    "maps(weighting_norm='euclidian')": "ValueError: weighting_norm is 'euclidian' .did you mean euclidean.., but must be one of "
    "manhattan, euclidean, infinity",
    "maps(weighting_norm='euclidean')": "ValueError: weighting_norm is 'euclidean', which needs the spacing",
    "maps(weighting_norm='euclidean', spacing=(1, 1, 1), aggregation='average')": "ValueError: but matrices with weights are merged",
    "maps(features='ngtdm', weighting_norm='euclidean', spacing=(1, 1, 1))": "ValueError: weighting_norm is 'euclidean', but has no "
    "effect on features of ngtdm",
    **{
        f"maps(features={name!r}, {given})": f"ValueError: {given.partition('=')[0]} is .* has no effect on features of {name}; it belongs"
        for given, classes in {
            "distances=[2]": "glcm gldm ngtdm",
            "aggregation='merge'": "glcm glrlm",
            "symmetric=False": "glcm",
            "alpha=1": "gldm",
            "voxel_array_shift=100": "firstorder",
        }.items()
        for name in _feature_maps.CLASSES
        if name not in classes.split()
    },
    **{
        f"maps({one}, {other})": "ValueError: are given, but only one of them can be used$"
        for one, other in itertools.permutations(
            ("bin_width=10", "bin_count=7", "bin_edges=[0, 50, 100]", "largest_gray_level=200"), 2
        )
    },
    "maps(bin_edges=[0, 50], intensity_range=(20, 90))": "ValueError: intensity_range is .* has no effect with bin_edges",
    "maps(largest_gray_level=200, intensity_range=(20, 90))": "ValueError: intensity_range is .* has no effect with largest_gray_level",
    # Images, masks and outputs.
    "maps(b'ct.nii')": "TypeError: image must be an array",
    "maps(None)": "TypeError: not NoneType",
    "maps(np.zeros(4))": "ValueError: must have 2 or 3 axes",
    "maps(np.ma.array(X))": "TypeError: masked array",
    "maps(X.astype(np.complex64))": "TypeError: complex64",
    "maps(np.full((4, 4), np.nan))": "ValueError: ^image is NaN at all 16 voxels, so that there are no intensities$",
    "maps('no-such-file.nii.gz')": "FileNotFoundError: image no-such-file.nii.gz does not exist$",
    "maps(mask=np.ones((6, 8, 7)))": r"ValueError: mask has the shape \(6, 8, 7\), but the image has \(6, 8, 9\)",
    "maps(spacing=(1, 2))": "ValueError: spacing is",
    "maps(crop='mask')": "ValueError: needs a mask",
    "describe(np.full((4, 4), np.nan), features='glcm')": "ValueError: ^image is NaN at all 16 voxels, so that",
    # Regions.
    "regions(mask=X * 0)": "ValueError: ^no voxel of mask is other than 0; it has only the value 0$",
    "regions(mask=parts, label=9)": r"ValueError: ^no voxel of mask is 9 \(label\); it has the values 0, 1 and 2$",
    "regions(mask=parts - 1)": "ValueError: mask has negative values, from -1, as an image has",
    "regions(mask=parts * 0.3)": "ValueError: mask has 324 values that are not integers",
    "regions(mask=parts, label=[1, 1])": r"ValueError: label is \[1, 1\], but each label must be given once",
    "regions(mask=np.full(X.shape, 2**63))": r"ValueError: has the label 9223372036854775808, but labels must be below 2\^63",
    "regions(features='shape_Size')": "ValueError: class shape has no feature 'Size'",
    "regions(features='shape2D')": "ValueError: The region with the label 1 has 6 planes, but planar shape is that of one",
    "regions(features='shape', alpha=3)": "ValueError: alpha is 3, but has no effect on features of shape",
    "regions(plane_axis=3)": "ValueError: plane_axis is 3, but must be 0, 1 or 2",
    "regions(bin_width=1e-9)": "ValueError: Region with the label 1: bin_width 1e-09 over the range",
    "regions(features='texture')": "ValueError: choose from firstorder, .*, shape, shape2D$",
    "maps(features='GLCM_contrast')": r"ValueError: .did you mean glcm_Contrast",
    "maps(features='glcm_Homogeneity')": r"ValueError: .did you mean Id or Idm\?",
    "maps(features={'glcm_Contrast', 'glcm_Id'})": "TypeError: a set, whose order changes from run to run: pass a list",
    "maps(precision='float64')": r"ValueError: .did you mean double\?",
    "maps(bin_width='25')": "TypeError: bin_width is '25', but must be a number",
    "maps(background_value='nan')": "TypeError: background_value is 'nan', but must be a number",
    "maps(neighborhood_radius=True)": "TypeError: neighborhood_radius is True, but must be an integer or one per axis",
    "maps(image, spacing=(0.5, 0.75, 3))": r"ValueError: spacing is \(0.5, 0.75, 3\), but the image has \(3.0, 0.75, 0.5\) along z, y, x",
    "regions(image=image, spacing=(0.5, 0.75, 3))": "ValueError: leave it out, or correct the image",
    "strength(image, spacing=(0.5, 0.75, 3))": "ValueError: leave it out, or correct the image",
    "regions(mask=parts, label={1, None})": "ValueError: label is None, but must be an integer other than 0, or a list of",
    "maps(mask=parts, label={1, None})": "ValueError: label is None, but must be an integer other than 0, or a list of",
    "regions(mask=parts, label=True)": "ValueError: label is True, but must be an integer",
    "maps([image, image])": r"TypeError: image is a list of images, such as Image: pass one of them, such as image\[0\]",
    "maps(sample((8, 8, 8)))": "TypeError: image is a SampleCT of images, such as SampleImage: pass one of them, such as image.image",
    "maps(mask=[image])": r"TypeError: mask is a list of images",
    "maps(volumeter(X))": r"TypeError: image is a \w+.Volumeter, whose geometry is not known here",
    "regions(mask=volumeter(X))": r"TypeError: mask is a \w+.Volumeter, whose geometry is not known here",
    "labels(seeds=volumeter(X))": r"TypeError: seeds is a \w+.Volumeter, whose geometry is not known here",
    "strength(object_mean='100', object_variance=1, difference_variance=1)": "TypeError: object_mean is '100', but must be a number",
    "maps(crop='mask', mask=X * 0, empty='background')": "ValueError: leave crop out where regions may be empty",
    "maps(mask=X * 0, empty='error')": "ValueError: ^no voxel of mask is other than 0; it has only the value 0$",
    "regions(image=np.where(X == 99, np.inf, X))": "ValueError: image is infinite at . voxels? inside mask",
    "regions(image=np.zeros((2, 4, 4, 4)))": "ValueError: image has 4 axes, but must be one image with 2 or 3 axes",
    "regions(features='voxel')": "ValueError: there is no class 'voxel' of features",
    "maps(features='shape_Elongation')": "ValueError: shape is that of regions, not of the windows of voxels: use voxelmaps.region_features",
    # Filters.
    "filtered()": "TypeError: filter LoG needs sigma, the standard deviation in mm",
    "filtered('Log')": r"ValueError: filter is 'Log' .did you mean LoG.*, but must be one of LoG, Gaussian",
    "filtered(sigma=0)": "ValueError: sigma is 0, but must be a number greater than 0 and finite",
    "filtered(sigma=[1, np.nan])": "ValueError: a value of sigma is nan, but must be a number greater than 0",
    "filtered(sigma=[])": "ValueError: sigma is empty",
    "filtered(sigma=1e9)": r"ValueError: sigma 1e\+09 for voxels of size 1, .* choose a sigma of 0.05 to 1000 voxels",
    "filtered(sigma=1e-9)": "ValueError: sigma 1e-09 for voxels of size 1, ",
    "filtered('Gradient', sigma=1)": "ValueError: sigma is 1, but has no effect on the filter Gradient; it belongs to LoG and Gaussian",
    "filtered('Gaussian', sigma=1, order=3)": "ValueError: order is 3, but must be 0, 1 or 2",
    "filtered('Gaussian', sigma=1, order=(1, 0))": "ValueError: order is .*3 of them, one per axis",
    "filtered('Mean', size=0)": "ValueError: size is 0, but must be one integer from 1 to",
    "filtered('Mean', mode='symmetric')": "ValueError: mode is 'symmetric'.*, but must be one of reflect, constant, nearest, mirror, wrap",
    "filtered('Convolution')": "TypeError: filter Convolution needs weights",
    "filtered('Convolution', weights=[])": "ValueError: weights must have at least one number",
    "filtered('Convolution', weights=[[1], [2]])": "ValueError: weights has 2 kernels, but must have one, or one per axis, which are 3",
    "filtered('Convolution', weights=np.ones((2, 2)))": "ValueError: weights has 2 kernels, but must have one",
    "filtered('Convolution', weights=[1, np.inf])": "ValueError: A kernel has a number that is not finite",
    "filtered('Convolution', weights=[1, 'a'])": "TypeError: a value of weights is 'a', but must be a number",
    "filtered('Wavelet', wavelet='db99')": "ValueError: wavelet is 'db99' .did you mean db9.., but must be a discrete wavelet of PyWavelets",
    "filtered('Wavelet', level=33)": "ValueError: level is 33, but must be an integer from 1 to 32",
    "filtered('Wavelet', x=np.ones((4, 4)), plane_axis=2)": "ValueError: plane_axis is 2, but the image has 2 axes",
    "filtered(x=np.zeros((2, 4, 4, 4)), sigma=1)": "ValueError: image has 4 axes, but must be one image",
    "filtered(x=X.astype(complex), sigma=1)": "TypeError: complex128",
    # Images and files of maps.
    "three.to_images('ITK')": "ValueError: kind is 'ITK' .did you mean itk.*, but must be itk, sitk, nibabel",
    "three.save('maps', 'png')": "ValueError: format is 'png', but must be nii.gz, nii or nrrd",
    "three.save('maps.nrrd', 'nii')": "ValueError: format is 'nii', but has no effect on the file maps.nrrd",
    "three.save('maps.mha')": "ValueError: maps.mha has the ending .mha, but files of maps are .nrrd, .nii.gz or .nii",
    "three.save('A.NRRD')": "ValueError: A.NRRD has the ending .NRRD, but files of maps are .nrrd, .nii.gz or .nii",
    "three[[]].save('maps.nrrd')": "ValueError: there are no maps to save",
    "maps(np.zeros((0, 9, 9))).save('maps.nrrd')": "ValueError: or they have no voxels",
    "three[['glcm_Contrast'] * 2]": "ValueError: the names glcm_Contrast, glcm_Contrast must be different",
    "three.save('maps.nii.gz')": "ValueError: maps.nii.gz cannot hold the names of 3 maps: give a folder",
    "maps(np.zeros((2, 9, 9, 9))).save('maps')": r"ValueError: maps have the shape \(2, 9, 9, 9\).*choose an image",
    "voxelmaps.FeatureMaps(['../a'], three.array[:1], ()).save('maps')": "ValueError: the map '../a' has a name with",
    # Devices.
    "maps(device='gpu')": "ValueError: device is 'gpu'",
    "maps(device=97)": "RuntimeError: CUDA device 97 cannot be used",
    "maps(device=[97])": "RuntimeError: CUDA device 97 cannot be used",
    "maps(device=[])": "ValueError: device is empty",
    "maps(device=['cpu'])": "ValueError: the CPU cannot be one of several devices",
    "labels(device='tpu')": "ValueError: device is 'tpu'",
    # Seeds.
    "strength(seeds=(7, 0, 0))": r"ValueError: the seed \(7, 0, 0\) is not an index",
    "strength(seeds=[])": "ValueError: no seeds",
    "strength(seeds='liver')": "FileNotFoundError: seeds liver does not exist",
    "strength(seed=(0, 0, 0))": "TypeError: fuzzy_connectedness has no parameter seed .did you mean seeds or seed_points",
    "strength(image, None, seed_points=(1, 2))": r"ValueError: a seed point is \(1, 2\), but must be 3 finite numbers x, y, z in mm, or a "
    "list of such points$",
    "labels(image, None, seed_points=[(1, 2, 3)])": "TypeError: seed_points must be a dict of labels and points in mm, and seeds a dict or "
    "left out$",
    "strength(X[0], (1, 9))": r"ValueError: the shape \(8, 9\) \(axes y, x\)$",
    "labels(seeds={1: np.array([[0, 0, 0], [0, -1, 0]])})": r"ValueError: the seed \(0, -1, 0\) is not an index",
    "labels(seeds={1: (1.5, 2, 3)})": "TypeError: must be an index of integers",
    "labels(seeds={1: 5})": "TypeError: a seed must be an index or a list of indices, not int",
    "labels(seeds={0: (1, 2, 3)})": "ValueError: the label 0 is not from 1 to 65535",
    "labels(seeds={'liver': (1, 2, 3)})": "TypeError: the label 'liver' is not an integer",
    "labels(seeds=np.ones((6, 8), np.uint8))": r"ValueError: seeds has the shape \(6, 8\), but the image has \(6, 8, 9\)",
    "labels(seeds=np.ones((6, 8, 9), complex))": "TypeError: complex128",
    "labels(mask=half)": r"ValueError: the seed \(1, 2, 3\) of the label 1 is outside the mask",
    # Affinities.
    "labels(affinity='mean')": "ValueError: affinity is 'mean'",
    "labels(**estimated, object_mean=3)": "ValueError: object_mean is given without object_variance and difference_variance",
    "labels(difference_mean=1, affinity='weighted_sum')": "ValueError: difference_mean is given without object_mean",
    "strength(object_mean=3, object_variance=-1, difference_variance=1)": "ValueError: -1",
    "labels(**given | {'object_variance': -1})": "ValueError: object variance of the affinity has the value -1, but must be positive",
    "labels(**given | {'object_mean': {1: np.inf}})": "ValueError: object mean of the affinity of label 1 has the value inf, but must "
    "be finite",
    "labels(**given | {'object_mean': {2: 5}})": "ValueError: object_mean has no value of the label 1, which has seeds",
    "labels(**given | {'object_mean': {0: 5}})": "ValueError: the label 0 is not from 1",
    "labels(**given | {'object_mean': {1: 5}, 'competition': 'iterative'})": "ValueError: object_mean is a dict: give "
    "competition='relative'",
    "labels(**given, estimate_of_every_label=True)": "ValueError: an affinity is given",
    "labels(np.where(X < 0, 0, np.arange(9) // 5 * 70 + X % 9), {1: (1, 2, 1), 2: (1, 2, 8)}, **estimated)": "ValueError: One affinity is to be "
    "estimated for all labels, but their intensities differ: those of the label 1 have .*estimate_of_every_label=True with competition='relative'",
    "labels(affinity='minimum', estimate_of_every_label=True)": "ValueError: must have the same affinity",
    "labels(np.zeros((6, 8, 9)), **estimated)": "ValueError: cannot be estimated .* object variance of the estimate has the value 0",
    "labels(vectors(17), components_axis=-1)": "ValueError: image has 17 components",
    "labels(vectors(2), components_axis=-1, **given)": "ValueError: components need the shape",
    "labels(refine=np.zeros(X.shape))": "ValueError: refine has no voxel with a label",
    "labels(refine=np.ones(X.shape))": "ValueError: refine has one label at all voxels",
    "labels(refine=np.ones((2, 3)))": "ValueError: refine has the shape",
    "labels(refine=half * 300, label_type='uint8')": "ValueError: the label 300 is not from 1 to 255",
    "labels(refine=half * -1)": "ValueError: refine has the value -1, but labels must be from 1",
    "labels(refine=half + 0.5)": "ValueError: refine has 432 values that are not integers",
    "labels(refine=half, tie_rule='background')": "ValueError: tie_rule is 'background', but refine needs 'distance'",
    "labels(refine=half * 3, refine_background=3)": "ValueError: refine_background is 3, but refine has this label",
    "labels(refine_distance=2)": "ValueError: refine_distance is 2.0, but has no effect without refine",
    "labels(refine=half, refine_distance=-1)": "ValueError: refine_distance is -1, but must be a number from 0 to 1000",
    "labels(smoothing=-1)": "ValueError: smoothing is -1, but must be a number from 0 to 100",
    "labels(vectors(2), components_axis=-1, smoothing=1)": "ValueError: smoothing is 1.0, but voxels of several components must be",
    "labels(np.where(half, np.nan, 1), smoothing=1)": "ValueError: image is NaN at 240 voxels: smoothing=1.0 needs finite intensities, so",
    "labels(np.where(half, -np.inf, 1), mask=half == 0, smoothing=1)": "ValueError: image is infinite at 240 voxels: smoothing=1.0 needs",
    # Other parameters of connectedness.
    "labels(competition='iterativ')": r"ValueError: competition is 'iterativ' \(did you mean iterative\?\), but must be one of relative, "
    "iterative",
    "labels(tie_rule='toss')": "ValueError: tie_rule is 'toss', but must be one of background, lowest_label",
    "labels(adjacency=6)": "ValueError: adjacency is 6",
    "labels(minimum_strength=2)": "ValueError: minimum_strength is 2, but must be a number from 0 to 1",
    "labels(weight=2)": "ValueError: weight is 2, but must be a number from 0 to 1",
    "labels(distance_weighting='yes')": "TypeError: distance_weighting is 'yes', but must be True or False",
    "labels(crop_to_seeds=True, crop_margin=[1, 2])": r"ValueError: crop_margin is \[1.0, 2.0\], but must be one number or 3",
    "labels(spacing=(1, 0, 1))": "ValueError: spacing is",
    "labels(label_type='float32')": "ValueError: label_type is 'float32', but must be uint8 or uint16",
    "labels(precision='half')": "ValueError: precision is 'half'",
    "labels(components_axis=1)": "ValueError: components_axis is 1, but must be 0 or -1",
    "labels(np.zeros(3))": "ValueError: must have 2 or 3",
    "labels(out=np.zeros(X.shape))": "ValueError: out has the shape .* and the type float64",
    "strength(np.zeros(3))": "ValueError: must have 2 or 3",
    "strength(floats, out=floats)": "ValueError: ^out has memory of image, which is read while results are written: give another array$",
    "maps(floats, features='ngtdm_Busyness', out=floats[None])": "ValueError: ^out has memory of image",
    "labels(mask=region, label_type='uint8', out=region)": "ValueError: ^out has memory of mask",
    "maps([[1, 2], [3]])": "ValueError: ^image is a list whose parts have different lengths: it is no array$",
    "strength(out=np.zeros(X.shape))": "ValueError: type float64",
    # Parameters without effect.
    "labels(weight=0.2, affinity='minimum')": "ValueError: weight is 0.2, but has no effect with the affinity minimum; it belongs to weighted_sum",
    "labels(difference_mean=3, affinity='minimum')": "ValueError: difference_mean is 3, but has no effect with the affinity minimum",
    "labels(affinity='homogeneity', object_mean=7)": "ValueError: object_mean is 7, but has no effect with the affinity homogeneity; it "
    "belongs to geometric_mean, weighted_sum and minimum",
    "labels(affinity='absolute_difference', estimation_radius=5)": "ValueError: estimation_radius is 5, but has no effect with the "
    "affinity absolute_difference",
    "labels(**given, estimation_radius=1)": "ValueError: estimation_radius is 1, but nothing is estimated: the affinity is given",
    "labels(crop_margin=3)": r"ValueError: crop_margin is \[3.0\], but has no effect without crop_to_seeds",
    "labels(crop_margin_in_millimeters=True)": "ValueError: crop_margin_in_millimeters is True, but has no effect without",
    # Other functions.
    "threshold(np.ones((3, 3)) * 7)": "ValueError: strength has values from 7.0 to 7.0, but must be from 0 to 1",
    "threshold(np.ones(3))": "ValueError: strength has 1 axes, but must have 2 or 3",
    "threshold(np.eye(3), minimum_volume=-2)": "ValueError: minimum_volume is -2, but must be at least 0 and finite",
    "threshold(np.eye(3), (3, 0))": r"ValueError: the seed \(3, 0\) is not an index",
    "transform('ct', features=['glcm_Contrst'])": "ValueError: Contrst.*did you mean Contrast",
    "transform('ct', features='glcm', bin_widht=3)": "TypeError: bin_widht.*did you mean bin_width",
    "transform('ct', features='glcm', neighborhood_radius=-1)": "ValueError: neighborhood_radius is -1",
    "transform('ct', features='glcm', bin_count=0)": "ValueError: bin_count is 0, but must be an integer from 1 to 65535",
    "transform('ct', mask='m', features='glcm')": "TypeError: has no parameter mask: mask_key is the name of the mask in the dictionary$",
    "transform('ct', features='glcm', out=3)": "TypeError: has no parameter out",
    "transform('ct', 'm', features='glcm', crop='mask', batch_first=True)": "ValueError: images of a batch have maps of one",
    "transform('ct')": "TypeError: features",
    "sample((5, 96, 40))": r"ValueError: size is \(5, 96, 40\), but must be three numbers of at least 8",
    "sample(64)": r"ValueError: size is \(64,\), but must be three numbers of at least 8",
    "voxelmaps.region_feature": r"AttributeError: no attribute region_feature .did you mean region_features\?",
    "voxelmaps.read_maps([1])": "TypeError: the path must be a path, not list",
    "voxelmaps.check_image_file(X)": "TypeError: the path must be a path, not ndarray",
    "voxelmaps.list_dicom_series('nope')": "FileNotFoundError: the folder nope does not exist",
    "sample((96, 96))": r"ValueError: size is \(96, 96\), but must be three",
    "sample(noise=-3)": "ValueError: noise is -3, but must be 0 to 1000",
    "sample(noise=np.nan)": "ValueError: noise is nan",
}


@pytest.mark.parametrize("call", ERRORS)
def test_errors(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kind, _, text = ERRORS[call].partition(": ")
    calls = [call]
    if call.startswith("labels") and "out=" not in call and "seed_points=" not in call:
        calls.append(call.replace("labels", "session", 1))
    if "has no parameter" in text and not call.startswith("strength"):
        calls.append(
            re.sub("maps|labels", lambda name: {"maps": "describe", "labels": "update"}[name[0]], call, count=1)
        )
    if "no effect with the affinity" in text:
        calls.append(call.replace("labels", "strength", 1))
    for each in calls:
        with pytest.raises(Exception, match=text) as caught:
            eval(each, NAMES)
        assert type(caught.value).__name__ == kind and "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_hints_name_parameters_of_the_function():
    theirs = [name for names in _suggestions._OTHER_NAMES.values() for name in names]
    for table in (
        *(getattr(_parameters, name.upper()) for name in ("feature_maps", "region_features", "labels")),
        SETTINGS,
    ):
        for name in (*theirs, *_suggestions._ADVICE, *_suggestions._OF_EXECUTE):
            hint = _suggestions.did_you_mean(name, table)
            meant = re.findall(r"(?:did you mean|(?<!;) or) (\w+)", hint)
            assert set(meant) <= set(table), (name, hint)
            if "setting of voxelmaps.radiomics.execute" in hint:
                known = [*SETTINGS, "imageType", "voxelBased", "out_dir", "resampledPixelSpacing"]
                assert any(name.lower()[:6] == each.lower()[:6] for each in known), name


def test_gradients():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="x requires gradients, which are not computed"):
        voxelmaps.feature_maps(torch.zeros(4, 4, requires_grad=True), features="glcm")


@needs_device
def test_arrays_of_two_places():
    cupy = pytest.importorskip("cupy")
    x, mask = cupy.asarray(X), X > 40
    with pytest.raises(
        TypeError, match=r"image is an array of CuPy \(CUDA device 0\), but mask is one of NumPy \(host memory\)"
    ):
        voxelmaps.feature_maps(x, mask, features="glcm")
    with pytest.raises(ValueError, match="device is 'cpu', but the image is on CUDA device 0"):
        voxelmaps.feature_maps(x, features="glcm", device="cpu")
