#!/usr/bin/env bash
# Build everything and run all tests. On a fresh Debian 12 it installs what is missing first. The Python tests run with the
# wheel and PyPI's itk.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/environment.sh
# The log level hides pages of remarks of Debian's GDCM about programs that nobody needs here.
cmake --log-level=WARNING -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON \
  -DVoxelMaps_BUILD_EXAMPLES=ON -DVoxelMaps_BUILD_VTK_EXAMPLES=ON -DVoxelMaps_BUILD_BENCHMARKS=ON \
  -DVoxelMaps_WARNINGS_AS_ERRORS=ON -DCMAKE_CUDA_ARCHITECTURES="${cuda_architecture}"
cmake --build build --parallel "$(nproc)"
ctest --test-dir build --output-on-failure "$@"
scripts/test-python.sh CMAKE_CUDA_ARCHITECTURES="${cuda_architecture}"
