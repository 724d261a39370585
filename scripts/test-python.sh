#!/usr/bin/env bash
# Build the module for Python and run the Python tests. Without an ITK with Python wrapping, skips them and says how to get
# one. Arguments are passed to CMake.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

status=0
scripts/build-python.sh "$@" || status=$?
if [[ ${status} -eq 77 ]]; then
  echo "Python tests: SKIPPED for the reason above"
  exit 0
elif [[ ${status} -ne 0 ]]; then
  exit "${status}"
fi
build/python/python -m black --check --quiet examples wrapping || {
  echo "test-python.sh: run build/python/python -m black examples wrapping" >&2
  exit 1
}
scripts/fetch-data.sh build/data
ctest --test-dir build/python --tests-regex '^Python' --output-on-failure
