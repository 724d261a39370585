#!/usr/bin/env bash
# Build everything and run all tests; on a fresh Debian 12, install what is missing first. CUDA code is compiled if there is nvcc;
# its tests are skipped where there is no device.
#
#   test.sh [--all] [CTEST-OPTION...]
#
#   --all          also build the fuzz targets with Clang and sanitizers, and run each for 20 seconds
#   CTEST-OPTION   such as -R RunLength; the Python tests run only without any
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fuzzers=OFF
if [[ "${1:-}" == --all ]]; then
  fuzzers=ON
  shift
fi
source scripts/environment.sh

say "Core"
use_cuda=OFF
if command -v nvcc >/dev/null; then
  use_cuda=ON
fi
quietly core scripts/build-core.sh "VoxelMaps_USE_CUDA=${use_cuda}" "CMAKE_CUDA_ARCHITECTURES=$(scripts/cuda-architecture.sh)"

say "Examples and tests"
configure -DBUILD_TESTING=ON -DVoxelMaps_BUILD_BENCHMARKS=ON -DVoxelMaps_TEST_FUZZERS="${fuzzers}"
build

say "C++ tests"
ctest --test-dir build --parallel "$(nproc)" --output-on-failure "$@"

if [[ $# -eq 0 ]]; then
  say "Python tests"
  scripts/test-python.sh
fi
say "All tests have passed"
if [[ $# -eq 0 && -e build/not-compared.txt ]]; then
  say "$(<build/not-compared.txt)"
fi
