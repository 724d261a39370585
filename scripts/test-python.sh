#!/usr/bin/env bash
# Build both wheels, install them next to PyPI's itk in build/venv, run the Python tests there, and build the site, which runs the
# examples of its gallery. Arguments are those of build-wheel.sh. The tests run the C++ examples in build/examples, which
# scripts/test.sh builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -x build/examples/FeatureMaps ]]; then
  echo "test-python.sh: build/examples/FeatureMaps is missing; scripts/test.sh builds it" >&2
  exit 1
fi
scripts/python-environment.sh --with-filters "$@"
scripts/build-site.sh --packages-only
# The site occupies one processor for a minute.
mkdir -p build/log
scripts/build-site.sh >build/log/site.txt 2>&1 &
site=$!
trap 'kill "${site}" 2>/dev/null || true' EXIT
VOXELMAPS_DATA="${PWD}/build/data" VOXELMAPS_EXAMPLES="${PWD}/build/examples" PYTHONDONTWRITEBYTECODE=1 \
  build/venv/bin/python -m pytest --numprocesses "$(nproc)"
wait "${site}" || {
  tail -n 40 build/log/site.txt >&2
  echo "test-python.sh: the site could not be built; all output is in build/log/site.txt" >&2
  exit 1
}
if ! build/venv/bin/python -c "import radiomics" 2>/dev/null; then
  echo "NOT COMPARED WITH PYRADIOMICS, which could not be installed: see build/pyradiomics.log" | tee build/not-compared.txt
else
  rm -f build/not-compared.txt
fi
