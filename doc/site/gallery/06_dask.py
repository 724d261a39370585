"""
A volume in chunks with dask
============================

The program ``examples/large_volume_with_dask.py`` computes volumes that are too large for memory chunk by chunk, each with a border of
one window radius. The result is bit-identical to that of the entire image; ``--check`` computes and compares both.
"""

import subprocess
import sys

program = "../examples/large_volume_with_dask.py"
arguments = "head.nii.gz maps.zarr --chunk 64 --picture chunks.png --check"
command = [sys.executable, program, *arguments.split()]
print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
