#!/usr/bin/env bash
# Build the module for Python in build/python, and create build/python/python, which runs Python with ITK, this module and
# the packages that tests and examples need. Without an ITK with Python wrapping, exits with 77 and says how to get one.
# Arguments are passed to CMake.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

status=0
itk_dir="$(scripts/build-wrapped-itk.sh --find)" || status=$?
if [[ ${status} -eq 1 ]]; then
  exit 77
elif [[ ${status} -ne 0 ]]; then
  exit "${status}"
fi
scripts/install-packages.sh scripts/apt-packages.txt scripts/apt-packages-python.txt

# PyPI packages, in a folder that outlives the checkout and depends on the lists.
lists=(scripts/python-requirements.txt scripts/python-requirements-pyradiomics.txt)
packages="${XDG_CACHE_HOME:-${HOME}/.cache}/voxelmaps/python-$(cat "${lists[@]}" | sha256sum | cut -c1-8)"
if [[ ! -e "${packages}/complete" ]]; then
  rm -rf "${packages}"
  /usr/bin/python3 -m venv "${packages}"
  "${packages}/bin/pip" --quiet --disable-pip-version-check install -r "${lists[0]}"
  "${packages}/bin/pip" --quiet --disable-pip-version-check install "numpy<2" wheel -r "${lists[1]}" ||
    echo "PyRadiomics could not be installed; the test of its example is skipped"
  touch "${packages}/complete"
fi

cmake --log-level=WARNING -S . -B build/python -G Ninja -DCMAKE_BUILD_TYPE=Release -DITK_DIR="${itk_dir}" \
  -DITK_USE_SYSTEM_CASTXML=ON -DITK_USE_SYSTEM_SWIG=ON -DITK_FORBID_DOWNLOADS=ON -DITK_USE_KWSTYLE=OFF \
  -DPython3_EXECUTABLE=/usr/bin/python3 -DVoxelMaps_PYTEST_PYTHON="${packages}/bin/python" \
  -DVoxelMaps_DATA_DIR="${PWD}/build/data" -DBUILD_TESTING=ON -DVoxelMaps_BUILD_EXAMPLES=ON "$@"
cmake --build build/python --parallel "$(nproc)" --target \
  VoxelMapsPython RunLengthFeatureMaps FuzzyConnectedness SyntheticLiverCT

cat >build/python/python <<END
#!/bin/sh
# Written by scripts/build-python.sh.
PYTHONPATH="${itk_dir}/Wrapping/Generators/Python\${PYTHONPATH:+:\${PYTHONPATH}}" exec "${packages}/bin/python" "\$@"
END
chmod +x build/python/python
