"""
What other settings change
==========================

Maps of the same region with different bin widths, numbers of levels and radii. :doc:`Settings by modality </doc/settings>` explains
which to choose.
"""

import itk
import numpy as np
import voxelmaps
from scipy.stats import spearmanr

ct = voxelmaps.read_dicom_series("ct-series")
array = itk.array_from_image(ct)
z, y, x = np.indices(array.shape)
region = (2 * (z - 32)) ** 2 + (y - 85) ** 2 + (x - 78) ** 2 < 26**2
feature = "glcm_JointEntropy"


def maps_of(image, mask, settings, **common):
    """A map of the feature for each of some settings, and its rank correlation with the first."""
    maps = {}
    for title, parameters in settings.items():
        whole = voxelmaps.feature_maps(image, mask, features=[feature], **{**common, **parameters})
        maps[title] = whole[feature]
        correlation = spearmanr(maps[title][mask], next(iter(maps.values()))[mask])[0]
        print(f"{title:20} mean {maps[title][mask].mean():6.3f}, rank correlation with the first {correlation:.3f}")
    return maps


# %%
# CT: bin width
# -------------
# Liver and vessels of a synthetic CT. Narrow bins of a few HU make entropy saturate and show noise; wide bins merge tissues.
# Values are comparable only for the same bin width.

widths = {f"bins of {width} HU": {"bin_width": width} for width in (25, 5, 12, 50, 100)}
maps = maps_of(array, region, widths, neighborhood_radius=2)
voxelmaps.show(ct, maps, region, columns=6, window=(-150, 350), unit="HU").savefig("bin-width.png", dpi=90)

# %%
# CT: radius
# ----------
# A larger window has more voxels for its statistics, but blurs structures that are smaller than the window.

radii = {f"radius {radius}": {"neighborhood_radius": radius} for radius in (2, 1, 3, 5)}
maps = maps_of(array, region, radii, bin_width=25)
voxelmaps.show(ct, maps, region, columns=5, window=(-150, 350), unit="HU").savefig("radius.png", dpi=90)

# %%
# MRI: levels instead of bins
# ---------------------------
# MRI intensities have arbitrary units. Multiplying them by 4, as another scanner might, changes maps with a fixed bin width but
# not those with a fixed number of levels.

image = itk.imread("head.nii.gz")
head = itk.array_from_image(image).astype(np.float32)
z, y, x = np.indices(head.shape)
ball = (3 * (z - 30)) ** 2 + (2 * (y - 60)) ** 2 + (2 * (x - 80)) ** 2 < 40**2
print("32 levels")
levels = maps_of(head, ball, {"levels": {}}, bin_count=32)
levels_scaled = maps_of(4 * head, ball, {"levels, times 4": {}}, bin_count=32)
print("bins of 10")
bins = maps_of(head, ball, {"bins": {}}, bin_width=10)
bins_scaled = maps_of(4 * head, ball, {"bins, times 4": {}}, bin_width=10)
assert np.array_equal(levels["levels"], levels_scaled["levels, times 4"])
figure = voxelmaps.show(image, {**levels, **levels_scaled, **bins, **bins_scaled}, ball, columns=5)
figure.savefig("levels.png", dpi=90)
