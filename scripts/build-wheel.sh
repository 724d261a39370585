#!/usr/bin/env bash
# Build the wheel voxelmaps into build/wheel, with the core of build/core, and print its path:
#
#   build-wheel.sh [CMAKE-DEFINITION...]
#
#   CMAKE-DEFINITION   for the core, such as VoxelMaps_USE_CUDA=OFF or CMAKE_CUDA_ARCHITECTURES=90; see build-core.sh
#
# `pip install .` compiles the same package. This wheel also has a platform tag, licenses and a bill of materials for PyPI.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "${root}"
mkdir -p build/wheel
log=build/wheel/wheel.log

scripts/install-packages.sh scripts/apt-packages-wheel.txt >&2
# Before the tools below: another CMake would compile the core again.
scripts/build-core.sh "$@" >"${log}" 2>&1 || { tail -n 60 "${log}" >&2; exit 1; }

source scripts/wheel-tools.sh
{
  rm -rf build/wheel/linux build/wheel/voxelmaps-*.whl
  pip wheel . --verbose --no-deps --no-build-isolation --wheel-dir build/wheel/linux \
    --config-settings=build-dir="${root}/build/wheel/package" \
    --config-settings=cmake.define.VoxelMapsCore_DIR="${root}/build/core"
  auditwheel repair --wheel-dir build/wheel build/wheel/linux/voxelmaps-*.whl
  python scripts/complete_wheel.py build/wheel/voxelmaps-*.whl build/core
} >>"${log}" 2>&1 || { tail -n 60 "${log}" >&2; exit 1; }
ls "${root}"/build/wheel/voxelmaps-*.whl
