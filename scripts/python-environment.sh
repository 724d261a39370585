#!/usr/bin/env bash
# Build the wheel, and make build/venv, a Python environment with PyPI's itk, the wheel, and what the tests and examples need.
# Arguments are those of build-wheel.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install-packages.sh scripts/apt-packages-wheel.txt scripts/apt-packages-python.txt
wheel="$(scripts/build-wheel.sh "$@")"

pip=(build/venv/bin/pip --quiet --disable-pip-version-check install)
# An environment outlives the wheel, but not a change of the requirements.
requirements="$(sed -n '/^dependencies/p; /^\[project.optional-dependencies\]/,/^$/p' pyproject.toml)"
if [[ "$(cat build/venv/complete.txt 2>/dev/null)" != "${requirements}" ]]; then
  rm -rf build/venv
  /usr/bin/python3 -m venv build/venv
  "${pip[@]}" "${wheel}[test]"
  echo "${requirements}" >build/venv/complete.txt
fi
"${pip[@]}" --force-reinstall --no-deps "${wheel}"

# PyRadiomics' source package says too little about what it needs. Built for the NumPy of the environment: not from pip's cache,
# and not with the headers of Debian's NumPy.
if ! build/venv/bin/python -c "import radiomics" 2>/dev/null &&
  ! { "${pip[@]}" wheel setuptools versioneer SimpleITK pykwalify PyWavelets six &&
    CFLAGS="-I$(build/venv/bin/python -c 'import numpy; print(numpy.get_include())')" \
      "${pip[@]}" --force-reinstall --no-cache-dir --no-build-isolation --no-deps pyradiomics==3.0.1; } >build/pyradiomics.log 2>&1; then
  echo "PyRadiomics could not be installed (build/pyradiomics.log); the test of the comparison with it is skipped"
fi
