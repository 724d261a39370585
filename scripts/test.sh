#!/usr/bin/env bash
# Build everything and run all tests; on a fresh Debian 12, install what is missing first. CUDA code is compiled if there is nvcc;
# its tests are skipped where there is no device.
#
#   test.sh [--all] [CTEST-OPTION...]
#
#   --all          also build the fuzz targets with Clang and sanitizers, and run each for 20 seconds
#   CTEST-OPTION   such as -R RunLength; the style checks, the Python tests and the site only without any
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fuzzers=OFF
if [[ "${1:-}" == --all ]]; then
  fuzzers=ON
  shift
fi
source scripts/environment.sh

say "Packages"
quietly packages install_packages build

if [[ $# -eq 0 ]]; then
  # First, since they take a minute.
  say "Linters"
  scripts/python-environment.sh --packages-only
  quietly mypy build/venv/bin/python -m mypy
  if git rev-parse --git-dir >/dev/null 2>&1; then
    virtual_environment build/style style
    for hook in ruff shellcheck; do
      PRE_COMMIT_HOME="${PWD}/build/style/cache" quietly "${hook}" build/style/bin/pre-commit run --all-files "${hook}"
    done
  fi
fi

say "Core"
use_cuda=OFF
if command -v nvcc >/dev/null; then
  use_cuda=ON
fi
quietly core scripts/build-core.sh "VoxelMaps_USE_CUDA=${use_cuda}" "CMAKE_CUDA_ARCHITECTURES=$(cuda_architecture)"

say "Examples and tests"
configure -DBUILD_TESTING=ON -DVoxelMaps_BUILD_BENCHMARKS=ON -DVoxelMaps_TEST_FUZZERS="${fuzzers}"
build all

say "C++ tests"
ctest --test-dir build --parallel "$(nproc)" --output-on-failure "$@"

if [[ $# -eq 0 ]]; then
  say "Wheels"
  scripts/python-environment.sh --with-filters
  scripts/build-site.sh --packages-only
  say "Guide to a new texture class"
  quietly guide scripts/follow-guide.py
  # The site, and the examples of its gallery, occupy one processor for a minute.
  say "Python tests"
  scripts/build-site.sh >build/log/site.txt 2>&1 &
  site=$!
  trap 'kill "${site}" 2>/dev/null || true' EXIT
  PYTHONDONTWRITEBYTECODE=1 build/venv/bin/python -m pytest --numprocesses "$(nproc)"
  wait "${site}" || {
    tail -n 40 build/log/site.txt >&2
    say "failed: the site; all output is in build/log/site.txt" >&2
    exit 1
  }
fi
say "All tests have passed"
if [[ $# -eq 0 ]] && ! build/venv/bin/python -c "import radiomics" 2>/dev/null; then
  say "NOT COMPARED WITH PYRADIOMICS, which could not be installed: see build/pyradiomics.log"
fi
