#!/usr/bin/env bash
# Make build/venv, a Python environment with the wheel voxelmaps and what the tests and examples need:
#
#   python-environment.sh [--packages-only] [--with-filters] [CMAKE-DEFINITION...]
#
#   --packages-only    all but the wheels, which needs the network and not the processors
#   --with-filters     also the wheel itk-voxelmaps, which wrapping/build-wheel.sh builds
#   CMAKE-DEFINITION   for the core, see build-core.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages_only='' with_filters=''
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --packages-only) packages_only=yes ;;
    --with-filters) with_filters=yes ;;
    *) echo "python-environment.sh: '$1' is not an option; there are --packages-only and --with-filters" >&2 && exit 1 ;;
  esac
  shift
done

source scripts/environment.sh
install_packages wheels python
# An extra that names another one of this project is resolved here.
virtual_environment build/venv test
pip=(build/venv/bin/pip --quiet --disable-pip-version-check install)

# PyRadiomics' source package says too little about what it needs. Built for the NumPy of the environment: not from pip's cache,
# and not with the headers of Debian's NumPy.
if ! build/venv/bin/python -c "import radiomics" 2>/dev/null &&
  ! { "${pip[@]}" wheel setuptools versioneer SimpleITK pykwalify PyWavelets six &&
    CFLAGS="-I$(build/venv/bin/python -c 'import numpy; print(numpy.get_include())')" \
      "${pip[@]}" --force-reinstall --no-cache-dir --no-build-isolation --no-deps pyradiomics==3.0.1; } >build/pyradiomics.log 2>&1; then
  echo "PyRadiomics could not be installed (build/pyradiomics.log); the tests of the comparison with it are skipped"
fi
if [[ -n "${packages_only}" ]]; then
  exit 0
fi

wheels=("$(scripts/build-wheel.sh "$@")")
if [[ -n "${with_filters}" ]]; then
  wheels+=("$(wrapping/build-wheel.sh)")
fi
"${pip[@]}" --force-reinstall --no-deps "${wheels[@]}"
