#!/usr/bin/env bash
# Build the site into build/site/html. Its examples, features and tables are computed by the wheel in build/venv, which
# scripts/python-environment.sh installs. Warnings are errors.
#
#   build-site.sh [--packages-only]
#
#   --packages-only   only install what the site needs, in addition to the wheel
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/environment.sh

python=build/venv/bin/python
if ! "${python}" -c "import itk, voxelmaps" 2>/dev/null; then
  echo "build-site.sh: the wheel is not in build/venv; scripts/python-environment.sh builds and installs it" >&2
  exit 1
fi
wanted="$(requirements site)"
if [[ "$(cat build/venv/site.txt 2>/dev/null)" != "${wanted}" ]]; then
  "${python}" -m pip --quiet --disable-pip-version-check install -r /dev/stdin <<<"${wanted}"
  echo "${wanted}" >build/venv/site.txt
fi

install_packages site
scripts/fetch-data.sh build/data
if [[ "${1:-}" == --packages-only ]]; then
  exit 0
fi

# What the examples read: a head, and a synthetic CT with its seeds.
inputs=build/site/inputs
mkdir -p "${inputs}"
cp -p build/data/KmeansTest_T1UCharRaw.nii.gz "${inputs}/head.nii.gz"
if [[ ! -e "${inputs}/seeds.txt" ]]; then
  rm -rf "${inputs}/ct-series"
  "${python}" examples/write_sample_ct.py "${inputs}/ct-series" --strokes "${inputs}/strokes.nrrd" >"${inputs}/seeds.tmp"
  mv "${inputs}/seeds.tmp" "${inputs}/seeds.txt"
fi

rm -rf build/site/doxygen
mkdir -p build/site/doxygen
# BibTeX alone, without the rest of TeX Live, looks for files here.
BIBINPUTS=. BSTINPUTS=. doxygen doc/site/Doxyfile
"${python}" doc/site/mathml.py build/site/doxygen/cpp

# The examples run, and write their results, in a copy of their folder.
rm -rf build/site/gallery build/site/html doc/gallery
cp -r doc/site/gallery build/site/gallery
ln -sfn "${PWD}/examples" build/site/examples
ln -s "${PWD}/${inputs}"/{head.nii.gz,ct-series,strokes.nrrd} build/site/gallery/
MPLCONFIGDIR="${PWD}/build/site/matplotlib" "${python}" -m sphinx --fail-on-warning --keep-going --quiet --fresh-env \
  -c doc/site -d build/site/doctrees . build/site/html
"${python}" doc/site/check_links.py build/site/html
echo "build/site/html/index.html (${SECONDS} s)"
