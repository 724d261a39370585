"""
Labels from strokes
===================

Strokes of seeds are added and deleted as with a brush, and all voxels are labeled after each edit. A
:class:`~voxelmaps.SeedSession` caches everything that does not depend on the seeds, so that an edit takes a fraction of the time of
the first update.
"""

import time

import itk
import numpy as np
import voxelmaps

ct = voxelmaps.read_dicom_series("ct-series")
milliliters = np.prod(list(itk.spacing(ct))) / 1000
strokes = itk.array_from_image(itk.imread("strokes.nrrd"))
names = {1: "liver", 2: "vessels", 3: "spine", 4: "spleen", 5: "all else"}
for label, name in names.items():
    print(f"{name}: {np.count_nonzero(strokes == label)} voxels with seeds")

# %%
# Each edit paints or deletes the strokes of some labels.

edits = {
    "liver and all else": [1, 5],
    "add spine": [1, 3, 5],
    "add spleen": [1, 3, 4, 5],
    "add vessels": [1, 2, 3, 4, 5],
    "delete spine": [1, 2, 4, 5],
}

frames = {}
with voxelmaps.SeedSession(ct) as session:
    for title, painted in edits.items():
        seeds = np.where(np.isin(strokes, painted), strokes, 0).astype(np.uint8)
        start = time.perf_counter()
        labels = session.update(seeds)
        seconds = time.perf_counter() - start
        array = itk.array_from_image(labels)
        volumes = [f"{names[label]} {np.count_nonzero(array == label) * milliliters:.0f} ml" for label in painted]
        print(f"{title}, {seconds:.2f} s: {', '.join(volumes)}")
        # Only the objects are drawn.
        frames[title] = np.where(array == 5, 0, array)

# %%
# The filmstrip shows a slice after each edit. Objects without seeds get the label that is connected to them most strongly.

shown = {label: name for label, name in names.items() if label != 5}
figure = voxelmaps.show(ct, frames, slice=40, label_names=shown, window=(-150, 350), unit="HU", columns=3)
figure.savefig("filmstrip.png", dpi=110)
