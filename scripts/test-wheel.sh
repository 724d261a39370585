#!/usr/bin/env bash
# Build the wheel itk-voxelmaps, install it into a fresh environment next to a copy of the ITK it was built for, and run
# the Python tests there. Arguments are passed to pip wheel, such as --config-settings=cmake.define.VoxelMaps_USE_CUDA=OFF.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

itk_dir="$(scripts/build-wrapped-itk.sh --find)"
scripts/install-packages.sh scripts/apt-packages.txt scripts/apt-packages-python.txt
rm -rf build/wheel && mkdir -p build/wheel
/usr/bin/python3 -m venv build/wheel/venv
python=build/wheel/venv/bin/python
"${python}" -m pip --quiet --disable-pip-version-check install "numpy<2" pytest "setuptools<80" xarray
"${python}" -m pip --quiet --disable-pip-version-check wheel . --no-deps --wheel-dir build/wheel \
  "--config-settings=cmake.define.ITK_DIR=${itk_dir}" --config-settings=cmake.define.Python3_EXECUTABLE=/usr/bin/python3 \
  "$@"

site="$("${python}" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
cp -r "${itk_dir}/Wrapping/Generators/Python/itk" "${itk_dir}/Wrapping/Generators/Python/itkConfig.py" "${site}"
# The module must come from the wheel alone.
"${python}" -m zipfile -l build/wheel/itk_voxelmaps-*.whl | awk '$1 ~ /^itk\// { print $1 }' | while read -r file; do
  rm -f "${site:?}/${file}"
done
if "${python}" -c 'import itk; itk.RunLengthFeatureMapImageFilter' 2>/dev/null; then
  echo "test-wheel.sh: the module exists before the wheel is installed" >&2
  exit 1
fi
"${python}" -m pip --quiet --disable-pip-version-check install build/wheel/itk_voxelmaps-*.whl
VOXELMAPS_DATA="${PWD}/build/data" VOXELMAPS_PROGRAMS="${PWD}/build/python/examples" PYTHONDONTWRITEBYTECODE=1 \
  "${python}" -m pytest -p no:cacheprovider -q -ra wrapping/test --ignore wrapping/test/test_examples.py
