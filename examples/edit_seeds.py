#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright NumFOCUS
# SPDX-License-Identifier: Apache-2.0
"""Add and delete strokes of seeds, label all voxels after each edit, and print the times.

The edits are those of the command line, in its order, as a user would make them with a brush. The first labels take as long as
any, and each edit a fraction of that, since a voxelmaps.SeedSession keeps what does not depend on seeds.
"""

import argparse
import pathlib
import sys
import time

import itk
import numpy as np
import voxelmaps


class Edit(argparse.Action):
    """Keeps --add and --delete in their order."""

    def __call__(self, parser, namespace, value, option=None):
        try:
            label, _, points = value.partition("=")
            points = [[int(i) for i in point.split(",")] for point in points.split("/")] if points else []
            edit = option.strip("-"), int(label), points
        except ValueError:
            parser.error(f"{option}: '{value}' is not LABEL=X,Y,Z/X,Y,Z...")
        if edit[0] == "add" and not points:
            parser.error(f"{option}: '{value}' has no voxels")
        namespace.edits = [*namespace.edits, edit]


def stroke(points):
    """Voxels on the lines from point to point, in NumPy's order of axes."""
    voxels = [np.array(points[0])]
    for start, end in zip(points, points[1:]):
        steps = max(abs(b - a) for a, b in zip(start, end))
        voxels += [np.rint(np.linspace(start, end, steps + 1)).astype(int)]
    return tuple(np.vstack(voxels).T[::-1])


def edit_seeds(options):
    folder = options.image.is_dir()
    image = voxelmaps.read_dicom_series(str(options.image)) if folder else itk.imread(str(options.image))
    array = itk.array_view_from_image(image)
    milliliters = np.prod(list(itk.spacing(image))) / 1000
    seeds = np.zeros(array.shape, np.uint16)
    # An affinity without statistics of one object: these objects are as different as bone and air.
    parameters = {"competition": options.competition}
    with voxelmaps.SeedSession(image, **parameters) as session:
        for name, label, points in options.edits:
            if name == "add":
                voxels = stroke(points)
                if min(map(min, voxels)) < 0 or any(max(v) >= n for v, n in zip(voxels, array.shape)):
                    raise ValueError(f"the stroke {points} of label {label} leaves the image, {itk.size(image)}")
                seeds[voxels] = label
            else:
                seeds[seeds == label] = 0
            start = time.perf_counter()
            labels = session.update(seeds)
            seconds = time.perf_counter() - start
            counts = np.bincount(itk.array_view_from_image(labels).ravel())
            volumes = [f"{i}: {counts[i] * milliliters:.1f} ml" for i in np.flatnonzero(counts) if i > 0]
            print(f"{name} {label}: {seconds:.3f} s, {session.memory / 1e6:.0f} MB kept; {', '.join(volumes)}")

        start = time.perf_counter()
        fresh = voxelmaps.labels(image, seeds, **parameters)
        seconds = time.perf_counter() - start
        if not np.array_equal(*map(itk.array_view_from_image, (fresh, labels))):
            raise RuntimeError("a run from the beginning gives other labels")
        print(f"the same labels from the beginning: {seconds:.3f} s")
        itk.imwrite(labels, str(options.labels))
        if options.margin:
            itk.imwrite(session.margin, str(options.margin))
        if options.picture:
            names = {int(i): f"{i}: {counts[i] * milliliters:.1f} ml" for i in np.flatnonzero(counts) if i > 0}
            # The slice with the most of the smallest object.
            smallest = itk.array_view_from_image(labels) == min(names, key=lambda label: counts[label])
            slice = int(np.count_nonzero(smallest, axis=(1, 2)).argmax()) if seeds.ndim == 3 else None
            figure = voxelmaps.show(image, {"labels": labels}, slice=slice, label_names=names)
            figure.savefig(options.picture, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image", type=pathlib.Path, help="image, or folder with a DICOM series")
    parser.add_argument("labels", type=pathlib.Path, help="where to write the last labels, such as labels.nii.gz")
    parser.add_argument("--margin", type=pathlib.Path, help="where to write how certain these labels are")
    parser.add_argument("--picture", type=pathlib.Path, help="where to draw a slice of the labels, such as labels.png")
    parser.add_argument(
        "--add",
        action=Edit,
        metavar="LABEL=X,Y,Z/X,Y,Z",
        help="a stroke from voxel to voxel, in ITK's order of axes; can be repeated",
    )
    parser.add_argument("--delete", action=Edit, metavar="LABEL", help="all strokes of a label; can be repeated")
    parser.add_argument(
        "--competition", choices=["relative", "iterative"], default="iterative", help="default: iterative"
    )
    parser.set_defaults(edits=[])
    options = parser.parse_args()
    if not options.edits:
        parser.error("there are no edits; --add is needed")
    try:
        edit_seeds(options)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"edit_seeds.py: {str(error).splitlines()[-1]}")


if __name__ == "__main__":
    main()
