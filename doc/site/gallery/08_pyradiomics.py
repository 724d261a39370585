"""
Comparison with PyRadiomics
===========================

The program ``examples/compare_with_pyradiomics.py`` compares the voxel-based GLRLM maps of PyRadiomics 3.0.1 and VoxelMaps with the
same settings, in a small part of the head: agreement per feature and computation time. Both skip directions in which no line of a window
has two voxels, which matters in thin and scattered masks.
"""

import importlib.util
import subprocess
import sys

program = "../examples/compare_with_pyradiomics.py"
if importlib.util.find_spec("radiomics"):
    command = [sys.executable, program, "head.nii.gz", "comparison", "--size", "0.1"]
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
else:
    print("PyRadiomics is not installed on the machine that built this page.")
