#!/usr/bin/env bash
# Find or build an ITK 5.2.1 with Python wrapping, which Debian does not package. Builds Debian's source package with the
# modules and pixel types that the Python tests and examples need. Prints the build tree, for CMake's ITK_DIR.
#
#   build-wrapped-itk.sh               find it, or build it once (about 90 minutes on one core)
#   build-wrapped-itk.sh --find        find it, or fail
#   build-wrapped-itk.sh --configure   stop before compiling
#
# Searches, in this order: $VOXELMAPS_WRAPPED_ITK; the archive ../shared/itk-5.2.1-wrapped.tar.xz, unpacked to /opt because
# its paths are fixed; and the build of this script in ($XDG_CACHE_HOME or ~/.cache)/voxelmaps.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=5.2.1
cache="${XDG_CACHE_HOME:-${HOME}/.cache}/voxelmaps/itk-${version}-wrapped"
archive="../shared/itk-${version}-wrapped.tar.xz"
unpacked="/opt/itk-${version}-wrapped"

is_complete() { [[ -s "$1/Wrapping/Generators/Python/itk/_ITKCommonPython.so" && -s "$1/ITKConfig.cmake" ]]; }
say() { echo "build-wrapped-itk.sh: $*" >&2; }

if [[ -n "${VOXELMAPS_WRAPPED_ITK:-}" ]]; then
  if ! is_complete "${VOXELMAPS_WRAPPED_ITK}"; then
    say "VOXELMAPS_WRAPPED_ITK=${VOXELMAPS_WRAPPED_ITK} is not a build tree of an ITK with Python wrapping"
    exit 2
  fi
  echo "${VOXELMAPS_WRAPPED_ITK}"
  exit 0
fi
if ! is_complete "${unpacked}/build" && [[ -r "${archive}" && -w /opt ]]; then
  say "unpacking ${archive} to /opt"
  tar -C /opt -xf "${archive}"
fi
for tree in "${unpacked}/build" "${cache}/build"; do
  if is_complete "${tree}"; then
    echo "${tree}"
    exit 0
  fi
done
if [[ "${1:-}" == --find ]]; then
  say "no ITK with Python wrapping found; scripts/build-wrapped-itk.sh builds one (about 90 minutes on one core)"
  exit 1
fi

scripts/install-packages.sh scripts/apt-packages.txt scripts/apt-packages-python.txt >&2
mkdir -p "${cache}"

# Separate source lists, so that this needs no root and does not change the system.
if [[ ! -s "${cache}/source/CMakeLists.txt" ]]; then
  release="$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)"
  site="$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n "s/ ${release} main\$//p" | head -n 1)"
  apt="${cache}/apt"
  mkdir -p "${apt}/lists/partial" "${apt}/cache/archives/partial"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${site} ${release} main" >"${apt}/sources.list"
  options=(-o "Dir::Etc::SourceList=${apt}/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=${apt}/lists"
    -o "Dir::Cache=${apt}/cache" -o APT::Sandbox::User= --quiet)
  say "source package from ${site} ${release}"
  apt-get "${options[@]}" update >&2
  rm -rf "${cache}/unpacked" && mkdir "${cache}/unpacked"
  (
    cd "${cache}/unpacked"
    apt-get "${options[@]}" source "insighttoolkit5" >&2
    # Debian's patches are applied at this point. Newer tools need two more changes.
    cd insighttoolkit5-*/
    # NumPy 1.24 removed np.bool.
    sed -i 's/np\.bool)/np.bool_)/' Wrapping/Generators/Python/itk/support/types.py
    # SWIG 4.1 does not generate these two.
    sed -i '/ios_base_sync_with_stdio\|ios_base_xalloc/d' Wrapping/Generators/Python/PyBase/CMakeLists.txt
  )
  mv "${cache}/unpacked"/insighttoolkit5-*/ "${cache}/source"
  rm -rf "${cache}/unpacked" "${apt}"
fi

modules=(BridgeNumPy IOGDCM IOImageBase IOMeta IONIFTI IONRRD IOPNG ImageCompose ImageFilterBase ImageGrid ImageIntensity Statistics
  Thresholding)
system=(CASTXML EXPAT GDCM JPEG PNG SWIG ZLIB)
defines=()
for name in "${modules[@]/#/Module_ITK}" "${system[@]/#/ITK_USE_SYSTEM_}"; do
  defines+=("-D${name}=ON")
done
cmake --log-level=WARNING -S "${cache}/source" -B "${cache}/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF -DITK_BUILD_DEFAULT_MODULES=OFF \
  -DITK_FORBID_DOWNLOADS=ON -DITK_USE_KWSTYLE=OFF "${defines[@]}" \
  -DITK_WRAP_PYTHON=ON -DPython3_EXECUTABLE=/usr/bin/python3 "-DITK_WRAP_IMAGE_DIMS=2;3" \
  -DITK_WRAP_unsigned_char=ON -DITK_WRAP_unsigned_short=ON -DITK_WRAP_signed_short=ON -DITK_WRAP_float=ON \
  -DITK_WRAP_vector_float=ON -DITK_WRAP_covariant_vector_float=OFF -DITK_WRAP_double=OFF -DITK_WRAP_vector_double=OFF \
  -DITK_WRAP_covariant_vector_double=OFF -DITK_WRAP_complex_float=OFF -DITK_WRAP_complex_double=OFF \
  -DITK_WRAP_rgb_unsigned_char=OFF -DITK_WRAP_rgb_unsigned_short=OFF -DITK_WRAP_rgba_unsigned_char=OFF \
  -DITK_WRAP_rgba_unsigned_short=OFF >&2
if [[ "${1:-}" == --configure ]]; then
  exit 0
fi
cmake --build "${cache}/build" --parallel "$(nproc)" >&2
if ! is_complete "${cache}/build"; then
  say "the build produced no Python modules in ${cache}/build"
  exit 1
fi
echo "${cache}/build"
