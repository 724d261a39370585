#!/usr/bin/env bash
# Build the wheel voxelmaps into build/wheel, with the core of build/core, and print its path:
#
#   build-wheel.sh [CMAKE-DEFINITION...]
#
#   CMAKE-DEFINITION   for the core, such as VoxelMaps_USE_CUDA=OFF or CMAKE_CUDA_ARCHITECTURES=90; see build-core.sh
#
# `pip install .` compiles the same package. This wheel also has a platform tag, licenses and a bill of materials for PyPI.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/environment.sh

install_packages wheels >&2
# Before the tools below: another CMake would compile the core again.
quietly core scripts/build-core.sh "$@"
wheel_tools
wheel() {
  rm -rf build/wheel/linux build/wheel/voxelmaps-*.whl
  pip wheel . --verbose --no-deps --no-build-isolation --wheel-dir build/wheel/linux \
    --config-settings=build-dir="${PWD}/build/wheel/package" \
    --config-settings=cmake.define.VoxelMapsCore_DIR="${PWD}/build/core" &&
    auditwheel repair --wheel-dir build/wheel build/wheel/linux/voxelmaps-*.whl &&
    python scripts/complete_wheel.py build/wheel/voxelmaps-*.whl build/core
}
quietly wheel wheel
ls "${PWD}"/build/wheel/voxelmaps-*.whl
