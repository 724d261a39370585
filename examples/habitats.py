#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Find habitats, regions of similar texture inside lesions, by clustering the feature maps of their voxels.

Every voxel of the mask has a vector of features, computed as PyRadiomics computes them. Over the voxels of all cases together,
the features are standardized (mean 0, variance 1), those that are constant or correlated with an earlier one are left out,
and k-means or a Gaussian mixture groups voxels with similar vectors, so that a label means the same in all cases.

Intensities must mean the same in all cases, too, as those of CT do. Those of MR depend on the scanner and on the patient: clusters
would follow the patients. --normalize gives the intensities of each image the mean 0 and the standard deviation 100.

The features are those that Prior et al. found repeatable, and reproducible with other kernel radii and bin widths, in CT of
lesions of the liver or the lung, and the radius and the bin width are the ones with which they computed habitats:
Prior O, et al. Identification of Precise 3D CT Radiomics for Habitat Computation by Machine Learning in Cancer. Radiology:
Artificial Intelligence 2024; 6(2): e230118 (Table 3), https://doi.org/10.1148/ryai.230118
"""

import argparse
import csv
import pathlib
import sys

import itk
import numpy as np
import voxelmaps
from matplotlib.figure import Figure
from scipy.stats import rankdata
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits
from voxelmaps import radiomics

# Coarseness was added by the authors for both, though it depends on the radius.
PRECISE = {
    "liver": {
        "firstorder": "10Percentile 90Percentile Energy Mean Median Minimum RootMeanSquared".split(),
        "glcm": "Autocorrelation JointAverage SumAverage".split(),
        "gldm": "DependenceEntropy GrayLevelNonUniformity HighGrayLevelEmphasis LargeDependenceLowGrayLevelEmphasis "
        "LowGrayLevelEmphasis SmallDependenceHighGrayLevelEmphasis".split(),
        "glrlm": "GrayLevelNonUniformity HighGrayLevelRunEmphasis LongRunHighGrayLevelEmphasis LongRunLowGrayLevelEmphasis "
        "LowGrayLevelRunEmphasis RunLengthNonUniformity RunPercentage RunVariance ShortRunHighGrayLevelEmphasis".split(),
        "ngtdm": ["Coarseness"],
    },
    "lung": {
        "firstorder": ["90Percentile"],
        "glcm": "Id Idm Imc1 InverseVariance JointEntropy".split(),
        "gldm": "DependenceEntropy DependenceNonUniformityNormalized GrayLevelNonUniformity LargeDependenceEmphasis "
        "LargeDependenceHighGrayLevelEmphasis SmallDependenceEmphasis SmallDependenceHighGrayLevelEmphasis".split(),
        "glrlm": "GrayLevelNonUniformity LongRunEmphasis LongRunHighGrayLevelEmphasis RunLengthNonUniformity "
        "RunLengthNonUniformityNormalized RunPercentage RunVariance ShortRunEmphasis".split(),
        "glszm": "LargeAreaEmphasis LargeAreaHighGrayLevelEmphasis ZonePercentage ZoneVariance".split(),
        "ngtdm": ["Coarseness"],
    },
}

# Voxels from which correlations and clusters are found, evenly spaced among all. The labels are those of all voxels.
MAX_SAMPLES = 200_000

# What reading and computing raise for invalid input.
ERRORS = (NotImplementedError, OSError, RuntimeError, TypeError, ValueError)


class Case:
    """The maps of one image, as a row of values for each voxel of the mask."""

    def __init__(self, name, image, mask, folder, options, label=None):
        self.name, self.folder = name, folder
        image = radiomics.read_image(image)
        if image.GetImageDimension() != 3:
            raise ValueError(f"{name} has {image.GetImageDimension()} dimensions, but must have 3")
        if options.normalize:
            array = itk.array_from_image(image).astype(np.float32)
            normalized = itk.image_from_array((array - array.mean()) * (100 / array.std()))
            normalized.CopyInformation(image)
            image = normalized
        if mask is None:
            array = itk.array_view_from_image(image)
            inside = itk.image_from_array((array > array.mean()).astype(np.uint8))
            inside.CopyInformation(image)
        else:
            inside = radiomics.read_image(mask)
        maps = radiomics.execute(
            image,
            inside,
            options.params,
            featureClass=options.features,
            # What is not computed is not a number, and neither are features of windows without a pair of voxels.
            initValue=float("nan"),
            additionalInfo=False,
            **options.settings,
            **({} if label is None else {"label": label}),
        )
        self.features = list(maps)
        self.grid = next(iter(maps.values()))
        arrays = [itk.array_view_from_image(one) for one in maps.values()]
        self.inside = np.logical_and.reduce([~np.isnan(array) for array in arrays])
        self.vectors = np.stack([array[self.inside] for array in arrays], axis=1)
        self.left_out = int(np.logical_or.reduce([~np.isnan(array) for array in arrays]).sum() - self.inside.sum())
        if len(self.vectors) == 0:
            raise ValueError(f"no voxel of {name} has all features")
        # The grid of the maps is a part of that of the image, or another one after resampling.
        on_grid = itk.resample_image_filter(image.astype(itk.F), reference_image=self.grid, use_reference_image=True)
        self.image = image if np.allclose(itk.spacing(image), itk.spacing(self.grid)) else on_grid
        self.intensities = itk.array_view_from_image(on_grid)[self.inside].astype(float)

    def write(self, labels, traits):
        """Write the label image and the picture, with a trait of each habitat in the legend."""
        volume = np.zeros(self.inside.shape, np.uint8)
        volume[self.inside] = labels
        image = itk.image_from_array(volume)
        image.CopyInformation(self.grid)
        self.folder.mkdir(parents=True, exist_ok=True)
        itk.imwrite(image, str(self.folder / "habitats.nii.gz"))
        # Three slices, by the numbers that they have in the image.
        used = np.flatnonzero(self.inside.any(axis=(1, 2)))
        points = (self.grid.TransformIndexToPhysicalPoint([0, 0, int(z)]) for z in np.quantile(used, [0.25, 0.5, 0.75]))
        slices = sorted({round(self.image.TransformPhysicalPointToContinuousIndex(point)[2]) for point in points})
        volumes = np.bincount(labels, minlength=len(traits) + 1) * np.prod(list(itk.spacing(self.grid))) / 1000
        names = {label: f"{label}: {volumes[label]:.4g} ml, {trait}" for label, trait in enumerate(traits, 1)}
        figure = voxelmaps.show(
            self.image, {"habitats": image}, image, slices, label=list(names), label_names=names, caption=self.name
        )
        figure.savefig(self.folder / "habitats.png", dpi=100)


def read_cases(options):
    """The cases of a table with the columns image, mask and output, and perhaps label; or the case of one image."""
    if options.input.suffix.lower() != ".csv":
        yield Case(options.input.name, options.input, options.mask, options.folder, options)
        return
    with open(options.input, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or not {"image", "mask", "output"} <= set(rows[0]):
        raise ValueError(f"{options.input} must have the columns image, mask and output, and a line for each case")
    if len({row["output"] for row in rows}) < len(rows):
        raise ValueError(f"{options.input} has the same output in two lines, whose files would replace each other")
    for number, row in enumerate(rows, start=2):
        try:
            image, mask, folder = (options.input.parent / row[name] for name in ("image", "mask", "output"))
            label = int(row["label"]) if row.get("label") else None
            yield Case(row["image"], image, mask, folder, options, label)
        except ERRORS as error:
            raise ValueError(f"line {number} of {options.input}: {error}") from error


def warn_of_patients(cases, labels):
    """Warn if a habitat is nearly only in one of several cases, as it is if intensities do not mean the same in all."""
    of_case = np.repeat(np.arange(len(cases)), [len(case.vectors) for case in cases])
    for label in np.unique(labels):
        shares = np.bincount(of_case[labels == label], minlength=len(cases)) / np.count_nonzero(labels == label)
        most = shares.argmax()
        if shares[most] > 0.9 and np.mean(of_case == most) < 0.6:
            print(
                f"habitats.py: warning: {shares[most]:.0%} of the voxels of habitat {label} are in {cases[most].name}, so that "
                "habitats may follow the patients: normalize the intensities, as --normalize does for MR",
                file=sys.stderr,
            )


def draw_profiles(profiles, names, path):
    """Draw what tells the habitats apart: their means of the features, in standard deviations from the mean of all voxels."""
    figure = Figure(figsize=(4 + 0.5 * len(profiles), 0.8 + 0.22 * len(names)), layout="constrained")
    axis = figure.subplots()
    limit = np.nanmax(np.abs(profiles))
    colors = axis.imshow(profiles.T, cmap="PuOr_r", vmin=-limit, vmax=limit, aspect="auto")
    for habitat, feature in np.ndindex(profiles.shape):
        value = profiles[habitat, feature]
        color = "white" if abs(value) > 0.6 * limit else "black"
        axis.text(habitat, feature, f"{round(value, 1) + 0.0:+.1f}", ha="center", va="center", fontsize=7, color=color)
    axis.set_xticks(range(len(profiles)), [f"habitat {label}" for label in range(1, len(profiles) + 1)], fontsize=7)
    axis.set_yticks(range(len(names)), names, fontsize=7)
    figure.colorbar(colors).ax.tick_params(labelsize=7)
    figure.suptitle("means of the habitats, in standard deviations from the mean of all voxels", fontsize=7)
    figure.savefig(path, dpi=100)


def clip_coarseness(vectors, features):
    """Coarseness is 10^6 where all levels of a window are equal, by definition; the next smaller value takes its place."""
    for column, feature in enumerate(features):
        if feature.endswith("_ngtdm_Coarseness"):
            values = vectors[:, column]
            below = values[values < 1e6]
            np.minimum(values, below.max() if len(below) else 0, out=values)


def evenly_spaced(vectors):
    return vectors[:: -(-len(vectors) // MAX_SAMPLES)]


def choose_features(vectors, limit):
    """Columns to use, and why each other one is left out: constant, or correlated (Spearman) with an earlier one."""
    ranks = np.stack([rankdata(column) for column in evenly_spaced(vectors).T])
    ranks -= ranks.mean(axis=1, keepdims=True)
    lengths = np.sqrt((ranks**2).sum(axis=1))
    kept, reasons = [], {}
    for column, length in enumerate(lengths):
        if length == 0:
            reasons[column] = ("constant", "")
            continue
        correlations = {k: float(ranks[k] @ ranks[column] / (lengths[k] * length)) for k in kept}
        worst = max(correlations, key=lambda k: abs(correlations[k]), default=None)
        if worst is not None and abs(correlations[worst]) > limit:
            reasons[column] = (worst, f"{correlations[worst]:.3f}")
        else:
            kept.append(column)
    return kept, reasons


def choose_number(samples, numbers=range(2, 7)):
    """The number of habitats with the smallest Bayesian information criterion of a Gaussian mixture."""
    criteria = {k: GaussianMixture(k, random_state=0).fit(samples).bic(samples) for k in numbers}
    for k, criterion in criteria.items():
        print(f"{k} habitats: BIC {criterion:.0f}")
    return min(criteria, key=criteria.get)


def cluster(vectors, options):
    """Group of each voxel, and the number of groups."""
    samples = evenly_spaced(vectors)
    number = choose_number(samples) if options.habitats == "bic" else options.habitats
    if number > len(samples):
        raise ValueError(f"{number} habitats of {len(samples)} voxels are not possible")
    if options.method == "mixture":
        model = GaussianMixture(number, n_init=2, random_state=0)
    else:
        model = KMeans(number, n_init=4, random_state=0)
    return model.fit(samples).predict(vectors), number


def write_table(path, names, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def chosen_features(text):
    """Features by class, from liver, lung, or names such as glcm_Contrast,glrlm_RunEntropy."""
    if text in PRECISE:
        return PRECISE[text]
    classes = {}
    for name in text.split(","):
        class_name, _, feature = name.partition("_")
        classes.setdefault(class_name, []).append(feature)
    return classes


def number_of_habitats(text):
    if text == "bic":
        return text
    if not (text.isdecimal() and 1 <= int(text) <= 255):
        raise argparse.ArgumentTypeError(f"{text!r} is not bic or a number from 1 to 255")
    return int(text)


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add(
        "input",
        type=pathlib.Path,
        help="table (.csv) with the columns image, mask, output, and perhaps label; or an image",
    )
    add("folder", type=pathlib.Path, help="where to write habitats.csv, features.csv and features.png")
    add("--mask", help="for one image: image of the same geometry (default: above the mean intensity)")
    add("--normalize", action="store_true", help="normalize the intensities of each image; needed for MR")
    add("--features", type=chosen_features, default="liver", help="liver, lung, or names (default: liver)")
    add("--habitats", type=number_of_habitats, default="bic", help="number of habitats, or bic (default: bic)")
    add("--method", choices=["kmeans", "mixture"], default="mixture", help="default: Gaussian mixture")
    add("--correlation", type=float, default=0.7, help="largest Spearman correlation (default: 0.7)")
    add("--radius", type=int, help="radius of the window in voxels (default: 3)")
    add("--bin-width", type=float, help="width of bins of intensities (default: 12)")
    add("--params", help="parameter file of PyRadiomics, with resampledPixelSpacing for example")
    options = parser.parse_args(arguments)
    options.settings = {} if options.params else {"kernelRadius": 3, "binWidth": 12}
    given = {"kernelRadius": options.radius, "binWidth": options.bin_width}
    options.settings.update((name, value) for name, value in given.items() if value is not None)
    return options


def find_habitats(options):
    cases = list(read_cases(options))
    features = cases[0].features
    vectors = np.concatenate([case.vectors for case in cases]).astype(float)
    intensities = np.concatenate([case.intensities for case in cases])
    clip_coarseness(vectors, features)
    kept, reasons = choose_features(vectors, options.correlation)
    means, deviations = vectors.mean(axis=0), vectors.std(axis=0)
    standardized = (vectors[:, kept] - means[kept]) / deviations[kept]
    # The last bits of sums depend on the number of threads.
    with threadpool_limits(1):
        groups, number = cluster(standardized, options)

    # Groups have arbitrary numbers; the order of their mean intensities is reproducible.
    order = np.argsort([intensities[groups == group].mean() for group in range(number)])
    rank = np.empty(number, int)
    rank[order] = np.arange(1, number + 1)
    labels = rank[groups]
    warn_of_patients(cases, labels)

    names = [feature.removeprefix("original_") for feature in features]
    profiles = np.stack([standardized[labels == label].mean(axis=0) for label in range(1, number + 1)])
    strongest = np.abs(profiles).argmax(axis=1)
    traits = [
        f"{'high' if profile[column] > 0 else 'low'} {names[kept[column]]}"
        for profile, column in zip(profiles, strongest)
    ]

    options.folder.mkdir(parents=True, exist_ok=True)
    rows, first = [], 0
    for case in cases:
        own = slice(first, first + len(case.vectors))
        first = own.stop
        case.write(labels[own], traits)
        volume = np.prod(list(itk.spacing(case.grid))) / 1000
        for label in range(1, number + 1):
            inside = labels[own] == label
            values = [case.intensities[inside], *vectors[own][inside][:, kept].T]
            rows.append([case.name, label, inside.sum(), f"{inside.sum() * volume:.3f}", f"{inside.mean():.4f}"])
            rows[-1] += [f"{value.mean():.6g}" if len(value) else "" for value in values]
            print(f"{case.name}: habitat {label}: {rows[-1][3]:>9} ml, mean intensity {rows[-1][5]}")
        if case.left_out:
            print(f"{case.name}: {case.left_out} voxels have no habitat: not all of their features are defined")
    header = ["case", "habitat", "voxels", "volume_ml", "fraction", "mean_intensity"]
    write_table(options.folder / "habitats.csv", header + [f"mean_{names[column]}" for column in kept], rows)
    table = []
    for column, name in enumerate(names):
        reason, correlation = reasons.get(column, ("", ""))
        reason = f"correlated with {names[reason]}" if isinstance(reason, int) else reason
        table.append(
            [name, f"{means[column]:.6g}", f"{deviations[column]:.6g}", int(column in kept), reason, correlation]
        )
    write_table(
        options.folder / "features.csv",
        ["feature", "mean", "standard_deviation", "used", "left_out_because", "correlation"],
        table,
    )
    draw_profiles(profiles, [names[column] for column in kept], options.folder / "features.png")
    print(f"{number} habitats of {len(cases)} cases by {len(kept)} of {len(features)} features, in {options.folder}")


def main():
    options = parse()
    try:
        find_habitats(options)
    except ERRORS as error:
        sys.exit(f"habitats.py: {str(error).splitlines()[-1]}")


if __name__ == "__main__":
    main()
