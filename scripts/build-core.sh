#!/usr/bin/env bash
# Build the core, a shared library, in build/core. The C++ build and the wheels all use it from there, so that it is compiled
# once:
#
#   build-core.sh [CMAKE-DEFINITION...]
#
#   CMAKE-DEFINITION   such as VoxelMaps_USE_CUDA=ON or CMAKE_CUDA_ARCHITECTURES=90. What is not given stays as it was in the
#                      former build; in a new one, CUDA is on where there is a usable device
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/environment.sh

definitions=()
for definition in "$@"; do
  if [[ ! "${definition}" =~ ^[A-Za-z_]+= ]]; then
    echo "build-core.sh: '${definition}' is not a definition such as VoxelMaps_USE_CUDA=OFF" >&2
    exit 1
  fi
  definitions+=("-D${definition}")
done
if [[ ! -e build/core/CMakeCache.txt ]]; then
  use_cuda=OFF
  if command -v nvcc >/dev/null && nvidia-smi --query-gpu=name --format=csv,noheader >/dev/null 2>&1; then
    use_cuda=ON
  fi
  definitions=("-DVoxelMaps_USE_CUDA=${use_cuda}" "-DCMAKE_CUDA_ARCHITECTURES=$(cuda_architecture)"
    "-DVoxelMaps_WARNINGS_AS_ERRORS=$(warnings_as_errors)" "${definitions[@]}")
fi
cmake --log-level=WARNING -S core -B build/core -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
  -DBUILD_TESTING=OFF "${definitions[@]}"
cmake --build build/core --parallel "${JOBS:-$(nproc)}"
