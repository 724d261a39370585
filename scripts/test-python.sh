#!/usr/bin/env bash
# Build both wheels, install them next to PyPI's itk in build/venv, and run the Python tests there. Arguments are those of
# build-wheel.sh. The tests run the C++ examples in build/examples, which scripts/test.sh builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -x build/examples/FeatureMaps ]]; then
  echo "test-python.sh: build/examples/FeatureMaps is missing; scripts/test.sh builds it" >&2
  exit 1
fi
scripts/python-environment.sh --with-filters "$@"
scripts/fetch-data.sh build/data
VOXELMAPS_DATA="${PWD}/build/data" VOXELMAPS_EXAMPLES="${PWD}/build/examples" PYTHONDONTWRITEBYTECODE=1 \
  build/venv/bin/python -m pytest --numprocesses "$(nproc)"
if ! build/venv/bin/python -c "import radiomics" 2>/dev/null; then
  echo "NOT COMPARED WITH PYRADIOMICS, which could not be installed: see build/pyradiomics.log" | tee build/not-compared.txt
else
  rm -f build/not-compared.txt
fi
