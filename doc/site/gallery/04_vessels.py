"""
Vessels of a CT from DICOM
==========================

One seed in the portal vein is sufficient: fuzzy connectedness estimates mean and variance of the vessel around it. The input is a
folder of DICOM files, which are checked to form one complete and evenly spaced volume.
"""

import itk
import numpy as np
import voxelmaps

ct = voxelmaps.read_dicom_series("ct-series")
strength = voxelmaps.fuzzy_connectedness(ct, (26, 92, 85))
values = itk.array_view_from_image(strength)

# %%
# The strength of a voxel is the weakest link of the strongest path to the seed. A threshold segments the object.

milliliters = np.prod(list(itk.spacing(ct))) / 1000
for threshold in (0.2, 0.3, 0.4, 0.5, 0.6):
    print(f"strength at least {threshold}: {np.count_nonzero(values >= threshold) * milliliters:6.1f} ml")

figure = voxelmaps.show(
    ct, {"strength": strength}, values >= 0.4, limits=(0.4, 1), window=(-150, 350), unit="HU", margin=20
)
figure.savefig("slice.png", dpi=150)

# %%
# The program ``examples/vessels_from_dicom.py`` does the same, and renders the surface with VTK.

import vessels_from_dicom

strength = itk.image_from_array(values)
strength.CopyInformation(ct)
surface = vessels_from_dicom.surface_of(strength, 0.4)
vessels_from_dicom.render(surface, "strength at least 0.4", "surface.png")
print(f"{surface.GetNumberOfPolys()} triangles")
