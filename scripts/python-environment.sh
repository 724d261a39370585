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

packages_only= with_filters=
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --packages-only) packages_only=yes ;;
    --with-filters) with_filters=yes ;;
    *) echo "python-environment.sh: '$1' is not an option; there are --packages-only and --with-filters" >&2 && exit 1 ;;
  esac
  shift
done

scripts/install-packages.sh scripts/apt-packages-wheel.txt scripts/apt-packages-python.txt

pip=(build/venv/bin/pip --quiet --disable-pip-version-check install)
# What pyproject.toml asks for, with the extra `test`; an extra that names another one of this project is resolved here.
requirements="$(/usr/bin/python3 -c '
import re, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
def expand(requirements):
    for requirement in requirements:
        own = re.match(project["name"] + r"\[(.*)\]", requirement)
        for extra in own[1].split(",") if own else ():
            yield from expand(project["optional-dependencies"][extra])
        if not own:
            yield requirement
print("\n".join(sorted({*project["dependencies"], *expand(project["optional-dependencies"]["test"])})))
')"
# An environment outlives the wheel, but not a change of the requirements.
if [[ "$(cat build/venv/complete.txt 2>/dev/null)" != "${requirements}" ]]; then
  rm -rf build/venv
  /usr/bin/python3 -m venv build/venv
  "${pip[@]}" -r /dev/stdin <<<"${requirements}"
  echo "${requirements}" >build/venv/complete.txt
fi

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
