#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Let a robot user segment objects that others have outlined, with voxelmaps and with other programs, and print a Markdown table.

The robot paints one stroke in the object and up to four around it, and then, again and again, one corrective stroke of at most nine
voxels in the largest error of any slice. Each program sees the box of the object with 20 voxels around it. Run it with the Python of
an environment that has voxelmaps, SimpleITK, SciPy, scikit-image and itk-growcut; what is not installed is left out.

Objects are the five tumors in the source package of PyRadiomics (from PyPI), regions of the atlas AAL in Colin's brain (Debian's
package mricron-data), and with --folder pairs such as MR_image.nii.gz and MR_mask.nii.gz in the folders of patients, as in the validation set of IBSI.
"""

import argparse
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import time
import warnings

import numpy as np
import SimpleITK as sitk
import voxelmaps
from peers import ROOT, processor_name
from scipy import ndimage

AROUND = 20
STROKE = 9
SHOWN = (1, 3, 10)
ENOUGH = 0.8
DROP = 0.1
# Nuclei, whose borders can be seen; on the left and the right.
REGIONS = {71: "caudate L", 72: "caudate R", 73: "putamen L", 74: "putamen R", 77: "thalamus L", 78: "thalamus R"}
MASKS = ("_mask", "_label", "_segmentation")
FACES_IN_PLANE = ndimage.generate_binary_structure(2, 1)

# --- Objects -------------------------------------------------------------------------------------------------------------


def downloaded(folder, name, command):
    """The path of a file that a command downloads into a folder once."""
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(name)):
        subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
    return next(folder.glob(name))


def tumors(folder):
    """The five tumors of PyRadiomics: names, images and masks."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
    archive = downloaded(folder, "pyradiomics-3*.tar.gz", [*pip, "--no-binary", ":all:", "pyradiomics==3.0.1"])
    for name in ("brain1", "brain2", "breast1", "lung1", "lung2"):
        images = []
        for kind in ("image", "label"):
            member = f"pyradiomics-3.0.1/data/{name}_{kind}.nrrd"
            if not (folder / member).exists():
                with tarfile.open(archive) as files:
                    files.extract(member, folder)
            images.append(sitk.ReadImage(str(folder / member)))
        yield f"{name} tumor", images[0], sitk.GetArrayFromImage(images[1]) > 0


def regions(folder):
    """Nuclei of the atlas AAL in Colin's brain."""
    package = downloaded(folder, "mricron-data_*.deb", ["apt-get", "download", "mricron-data"])
    templates = folder / "mricron-data" / "usr/share/mricron/templates"
    if not templates.exists():
        subprocess.run(["dpkg", "-x", package, folder / "mricron-data"], check=True)
    image = sitk.ReadImage(str(templates / "ch2.nii.gz"))
    labels = sitk.GetArrayFromImage(sitk.ReadImage(str(templates / "aal.nii.gz")))
    for label, name in REGIONS.items():
        yield f"{name} of AAL", image, labels == label


def patients(folder):
    for path in sorted(path for path in folder.rglob("*_image.nii*") if path.is_file()):
        masks = [path.with_name(path.name.replace("_image", mask)) for mask in MASKS]
        for mask in (mask for mask in masks if mask.exists()):
            image = sitk.ReadImage(str(path))
            yield f"{path.parent.name} {path.name.partition('_image')[0]}", image, sitk.GetArrayFromImage(
                sitk.ReadImage(str(mask))
            ) > 0


def box_of(image, mask):
    """Voxels and the mask in the box of the object, as contiguous arrays, and sizes of a voxel along the axes."""
    indices = np.argwhere(mask)
    first, end = np.maximum(indices.min(0) - AROUND, 0), indices.max(0) + AROUND + 1
    box = tuple(map(slice, first, end))
    voxels = sitk.GetArrayFromImage(image)[box].astype(np.float32)
    return np.ascontiguousarray(voxels), np.ascontiguousarray(mask[box]), image.GetSpacing()[::-1]


# --- The robot -----------------------------------------------------------------------------------------------------------


def depth(region):
    """Distances of the voxels of a region of a slice from what surrounds it, also from outside of the slice."""
    return ndimage.distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]


def line(region, center, direction):
    """Voxels of a region on the line through a center, both ways in turn."""
    direction = np.asarray(direction, float)
    direction = direction / (np.abs(direction).max() or 1)
    found, goes_on = [tuple(center)], [True, True]
    for step in range(1, STROKE):
        for way, sign in enumerate((1, -1)):
            place = tuple(np.rint(np.asarray(center) + sign * step * direction).astype(int))
            inside = all(0 <= i < n for i, n in zip(place, region.shape)) and region[place]
            goes_on[way] = goes_on[way] and bool(inside)
            if goes_on[way] and len(found) < STROKE:
                found.append(place)
    return found


def long_axis(region):
    places = np.argwhere(region).astype(float)
    if len(places) < 3:
        return np.array([0.0, 1.0])
    places -= places.mean(0)
    return np.linalg.eigh(places.T @ places)[1][:, -1]


def first_strokes(mask):
    """One stroke in the largest slice of the object, up to four in a ring around it there, and one far away."""
    strokes = np.zeros(mask.shape, np.uint8)
    z = int(np.argmax(mask.sum((1, 2))))
    here = mask[z]
    deepest = depth(here)
    center = np.unravel_index(np.argmax(deepest), here.shape)
    for place in line(here, center, long_axis(here)):
        strokes[(z, *place)] = 1
    outside = ndimage.distance_transform_edt(~here)
    ring, core = (outside >= 3) & (outside <= 6), np.argwhere((outside >= 4) & (outside <= 5))
    for step in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if len(core) == 0:
            break
        across = step[::-1]
        score = (core - center) @ step - 0.5 * np.abs((core - center) @ across)
        start = tuple(core[np.argmax(score)])
        if (np.array(start) - center) @ step > 0:
            for place in line(ring, start, across):
                strokes[(z, *place)] = 2
    for place in line(outside > 6, np.unravel_index(np.argmax(outside), outside.shape), (0, 1)):
        strokes[(z, *place)] = 2
    return strokes


def correct(strokes, found, mask):
    """Paint a stroke in the largest connected error of a slice. Returns whether there was one."""
    largest, label, where = 0, 0, None
    for errors, label_of_errors in ((mask & ~found, 1), (found & ~mask, 2)):
        for z in np.flatnonzero(errors.any((1, 2))):
            if np.count_nonzero(errors[z]) <= largest:
                continue
            parts, _ = ndimage.label(errors[z], FACES_IN_PLANE)
            sizes = np.bincount(parts.ravel())[1:]
            if sizes.max() > largest:
                largest, label, where = sizes.max(), label_of_errors, (z, parts == 1 + np.argmax(sizes))
    if where is None:
        return False
    z, region = where
    deepest = depth(region)
    # Among voxels that are about as deep, the one nearest to the middle.
    places = np.argwhere(deepest >= 0.8 * deepest.max())
    center = places[np.argmin(((places - np.argwhere(region).mean(0)) ** 2).sum(1))]
    for place in line(region, center, long_axis(region)):
        strokes[(z, *place)] = label
    return True


def dice(a, b):
    return 2 * np.count_nonzero(a & b) / (np.count_nonzero(a) + np.count_nonzero(b))


def play(program, mask):
    """Dice coefficients after 0, 1, ... corrections, seconds of each update, and the errors of each among uncertain voxels."""
    strokes, scores, seconds, shares = first_strokes(mask), [], [], []
    for number in range(SHOWN[-1] + 1):
        begin = time.perf_counter()
        found = program(strokes)
        seconds.append(time.perf_counter() - begin)
        scores.append(dice(found, mask))
        if hasattr(program, "margin") and number in SHOWN:
            shares.append(share_of_errors(program.margin(), found != mask))
        if number < SHOWN[-1] and not correct(strokes, found, mask):
            break
    scores += [scores[-1]] * (SHOWN[-1] + 1 - len(scores))
    return scores, seconds, np.nanmean(shares) if shares else np.nan


def share_of_errors(margin, errors, part=0.1):
    """Of the errors, those among the part of the voxels with the least margin; of equal margins, a fraction."""
    order = np.sort(margin.ravel())
    limit = order[int(part * order.size)]
    below, at = margin < limit, margin == limit
    rest = (part * order.size - np.count_nonzero(below)) / np.count_nonzero(at)
    count = np.count_nonzero(errors)
    return (np.count_nonzero(errors & below) + rest * np.count_nonzero(errors & at)) / count if count else np.nan


# --- Programs ------------------------------------------------------------------------------------------------------------


class Session:
    """voxelmaps.SeedSession, whose first update makes the graph."""

    def __init__(self, voxels, sizes, **options):
        self.session = voxelmaps.SeedSession(voxels, spacing=sizes, label_type="uint8", device="cpu", **options)

    def __call__(self, strokes):
        return self.session.update(strokes) == 1

    def margin(self):
        return self.session.margin


def growcut(voxels, sizes, sigma):
    import itk

    # The filter leaves out the faces of the volume.
    image = itk.image_from_array(np.pad(smoothed(voxels, sigma), 1, mode="edge"))

    def run(strokes):
        # A filter that is used again keeps old labels.
        grow = itk.FastGrowCut[type(image), itk.Image[itk.UC, 3]].New(image)
        grow.SetSeedImage(itk.image_from_array(np.pad(strokes, 1)))
        grow.Update()
        return itk.array_from_image(grow.GetOutput())[1:-1, 1:-1, 1:-1] == 1

    return run


def random_walker(voxels, sizes, sigma, beta):
    from skimage.segmentation import random_walker

    low, high = np.percentile(voxels, (0.5, 99.5))
    scaled = np.clip((smoothed(voxels, sigma) - low) / (high - low), 0, 1)
    return lambda strokes: random_walker(scaled, strokes.astype(np.int32), beta=beta, mode="cg_j", tol=1e-3) == 1


def watershed(voxels, sizes, sigma):
    from skimage.segmentation import watershed

    gradient = ndimage.gaussian_gradient_magnitude(voxels, sigma)
    return lambda strokes: watershed(gradient, strokes.astype(np.int32)) == 1


def smoothed(voxels, sigma):
    return ndimage.gaussian_filter(voxels, sigma) if sigma else voxels


# Peers also with smoothing, by which they gain.
PROGRAMS = {
    "voxelmaps, defaults": (Session, {}),
    "voxelmaps, smoothing=0.7": (Session, {"smoothing": 0.7}),
    "voxelmaps, ties to background": (Session, {"tie_rule": "background"}),
    "itk-growcut": (growcut, {"sigma": 0}),
    "itk-growcut, σ 0.7": (growcut, {"sigma": 0.7}),
    "itk-growcut, σ 1": (growcut, {"sigma": 1}),
    "random walker, β 130": (random_walker, {"sigma": 0, "beta": 130}),
    "random walker, β 1000": (random_walker, {"sigma": 0, "beta": 1000}),
    "watershed, σ 0.7": (watershed, {"sigma": 0.7}),
    "watershed, σ 1": (watershed, {"sigma": 1}),
}


def interval(values, draws=2000):
    """The mean and its 95 % interval by resampling objects."""
    values = np.asarray(values)
    means = values[np.random.default_rng(0).integers(0, len(values), (draws, len(values)))].mean(1)
    return "{:.2f} [{:.2f}, {:.2f}]".format(values.mean(), *np.percentile(means, (2.5, 97.5)))


def row(name, results):
    scores, seconds, shares = zip(*results)
    scores = np.array(scores)
    drops = (np.diff(scores, axis=1) < -DROP).sum(1).mean()
    # Without the first update.
    later = np.concatenate([each[1:] for each in seconds])
    share = f"{np.nanmean(shares):.2f}" if np.isfinite(shares).any() else ""
    reached = f"{(scores.max(1) >= ENOUGH).sum()} of {len(scores)}"
    cells = [
        name,
        *(interval(scores[:, number]) for number in SHOWN),
        reached,
        f"{drops:.1f}",
        f"{np.median(later):.3f}",
        share,
    ]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "build" / "strokes", help="folder of the downloads")
    parser.add_argument("--folder", type=pathlib.Path, help="folder of patients with images and masks")
    parser.add_argument(
        "--only", nargs="+", metavar="TEXT", default=[""], help="programs whose names contain one of these"
    )
    parser.add_argument(
        "--objects", nargs="+", metavar="TEXT", default=[""], help="objects whose names contain one of these"
    )
    parser.add_argument("--most-voxels", type=int, default=4 * 10**6, help="objects with a larger box are left out")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    objects = [*tumors(options.data), *regions(options.data), *(patients(options.folder) if options.folder else ())]
    objects = [(name, *box_of(image, mask)) for name, image, mask in objects if any(t in name for t in options.objects)]
    objects = [each for each in objects if each[1].size <= options.most_voxels]
    print(
        f"{processor_name()}, {os.cpu_count()} processors, Python {platform.python_version()}, {len(objects)} objects:",
        end=" ",
    )
    print(", ".join(name for name, *_ in objects), end="\n\n")
    columns = [f"mean Dice after {number}" for number in SHOWN]
    columns += [
        f"reach {ENOUGH:.2f}",
        f"drops > {DROP} per object",
        "s per update",
        "errors in the 10 % of least margin",
    ]
    print(f"| program | {' | '.join(columns)} |\n|{'---|' * (1 + len(columns))}")
    details = []
    for program, (make, settings) in PROGRAMS.items():
        if not any(text in program for text in options.only):
            continue
        try:
            results = [play(make(voxels, sizes, **settings), mask) for _, voxels, mask, sizes in objects]
        except (ImportError, AttributeError) as error:
            print(f"{program} is left out: {error}", file=sys.stderr)
            continue
        print(row(program, results), flush=True)
        for (name, *_), (scores, *_) in zip(objects, results):
            details.append(f"{program}: {name}: {' '.join(f'{score:.2f}' for score in scores)}")
    print("\n".join(details), file=sys.stderr)


if __name__ == "__main__":
    main()
