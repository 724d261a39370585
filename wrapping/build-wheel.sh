#!/usr/bin/env bash
# Build the wheel itk-voxelmaps, the filters for PyPI's itk 5.4, into build/itk-wheel, and print its path:
#
#   wrapping/build-wheel.sh [--itk-source FOLDER] [CMAKE-DEFINITION...]
#
#   --itk-source FOLDER   source of ITK 5.4, such as a clone; it is not changed. Default: Debian's source package
#   CMAKE-DEFINITION      for the core, see scripts/build-core.sh
#
# Needs only packages from Debian and PyPI. A second run with the same source of ITK only rebuilds the module.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

itk_source=
work="${root}/build/itk-wheel"
definitions=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --itk-source)
      if [[ ! -s "${2:-}/CMake/itkVersion.cmake" ]]; then
        echo "build-wheel.sh: --itk-source '${2:-}' is not a folder with the source of ITK" >&2
        exit 1
      fi
      itk_source="$(realpath "$2")"
      shift 2
      ;;
    [!-]*=*)
      definitions+=("$1")
      shift
      ;;
    *)
      echo "build-wheel.sh: '$1' is not an option or a definition such as VoxelMaps_USE_CUDA=OFF" >&2
      exit 1
      ;;
  esac
done
mkdir -p "${work}"
cd "${work}"
jobs="${JOBS:-$(nproc)}"
unset PYTHONPATH ITK_DIR

rm -f itk.log core.log module.log
log_on_failure() {
  local log="$1"
  shift
  "$@" >>"${log}" 2>&1 || {
    tail -n 60 "${log}" >&2
    say "failed; all output is in ${work}/${log}"
    exit 1
  }
}

cd "${root}"
# shellcheck source=scripts/environment.sh
source scripts/environment.sh
say() { printf 'build-wheel.sh: %s (%s s)\n' "$*" "${SECONDS}" >&2; }
install_packages wheels wrapping >&2

say "core"
log_on_failure "${work}/core.log" scripts/build-core.sh "${definitions[@]}"
wheel_tools
tools="$(requirements wheels)"
cd "${work}"

# Everything below is made again when what it is made from has changed: each folder has a file that says what that was.
is_made_from() { [[ "$(cat "$1/made-from.txt" 2>/dev/null)" == "$2" ]]; }

# ITK's source. Debian's is fetched through lists of its own, so that this needs no root and does not change the system.
source="Debian's source package"
if [[ -n "${itk_source}" ]]; then
  source="${itk_source} $(git -C "${itk_source}" rev-parse HEAD 2>/dev/null || true)"
fi
if ! is_made_from itk-source "${source}"; then
  rm -rf itk-source unpacked
  if [[ -n "${itk_source}" ]]; then
    say "copying ${itk_source}"
    mkdir itk-source
    tar -C "${itk_source}" --exclude=./.git -c . | tar -C itk-source -x
  else
    # shellcheck source=/dev/null
    id="$(. /etc/os-release && echo "${ID}")" release="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
    if [[ "${id}" != debian ]]; then
      say "this is not Debian: give a folder with the source of ITK 5.4 by --itk-source"
      exit 1
    fi
    suite=forky
    site="$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
      sed -n "s/ ${release} main\$//p" | head -n 1)"
    if [[ -z "${site}" ]]; then
      say "apt has no package lists of ${release} main: run apt-get update, or give a folder by --itk-source"
      exit 1
    fi
    say "source package of ITK from ${site} ${suite}"
    mkdir -p apt/lists/partial apt/cache/archives/partial unpacked
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb-src [signed-by=${keyring}] ${site} ${suite} main" >apt/sources.list
    options=(-o "Dir::Etc::SourceList=${work}/apt/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=${work}/apt/lists"
      -o "Dir::Cache=${work}/apt/cache" -o APT::Sandbox::User= --quiet)
    apt-get "${options[@]}" update >&2
    (cd unpacked && apt-get "${options[@]}" source insighttoolkit5 >&2)
    mv unpacked/insighttoolkit5-*/ itk-source
    rm -rf unpacked apt
  fi
  version="$(sed -n 's/^set(ITK_VERSION_M[AI][JN]OR "\([0-9]*\)")/\1/p' itk-source/CMake/itkVersion.cmake | paste -sd.)"
  if [[ "${version}" != 5.4 ]]; then
    say "this is the source of ITK ${version}, but the wheel needs 5.4; --itk-source takes a folder with it"
    exit 1
  fi
  # PyPI's ITK makes Threading Building Blocks the default of all its libraries. This one has none: its thread pool serves.
  threader=itk-source/Modules/Core/Common/src/itkMultiThreaderBase.cxx
  sed -i '/ITK has been built without TBB support/s/itkGenericExceptionMacro(.*);/return PoolMultiThreader::New();/' "${threader}"
  if grep -q 'without TBB support' "${threader}"; then
    say "${threader} is not as expected; cannot make the thread pool stand in for TBB"
    exit 1
  fi
  rm -rf itk
  echo "${source}" >itk-source/made-from.txt
fi

# ITK: the static library ITKCommon, which computes no voxels here, and the descriptions of its wrapping. The wrapping itself is PyPI's and not compiled.
if ! is_made_from itk "${tools}${CXXFLAGS}"; then
  say "ITKCommon"
  rm -rf itk module
  types=()
  for type in unsigned_char unsigned_short signed_short float double vector_float; do
    types+=("-DITK_WRAP_${type}=ON")
  done
  for type in covariant_vector_float covariant_vector_double vector_double complex_float complex_double rgb_unsigned_char \
    rgb_unsigned_short rgba_unsigned_char rgba_unsigned_short; do
    types+=("-DITK_WRAP_${type}=OFF")
  done
  log_on_failure itk.log cmake --log-level=WARNING -S itk-source -B itk -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_PROJECT_ITK_INCLUDE=${root}/wrapping/itk-for-wheel.cmake" \
    "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG" "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF \
    -DITK_BUILD_DEFAULT_MODULES=OFF -DModule_ITKCommon=ON -DITK_FORBID_DOWNLOADS=ON -DITK_USE_KWSTYLE=OFF \
    -DITK_USE_SYSTEM_CASTXML=ON -DITK_USE_SYSTEM_SWIG=ON -DITK_WRAP_PYTHON=ON "-DITK_WRAP_IMAGE_DIMS=2;3" "${types[@]}" \
    "-DPython3_EXECUTABLE=$(command -v python)"
  log_on_failure itk.log ninja -C itk -j "${jobs}" ITKCommon
  say "descriptions of ITKCommon's wrapping"
  log_on_failure itk.log ninja -C itk -j "${jobs}" ITKCommonSwig
  echo "${tools}${CXXFLAGS}" >itk/made-from.txt
fi

say "module"
rm -rf linux itk_voxelmaps-*.whl
CMAKE_BUILD_PARALLEL_LEVEL="${jobs}" log_on_failure module.log pip wheel "${root}/wrapping" \
  --verbose --no-deps --no-build-isolation --wheel-dir linux "--config-settings=build-dir=${work}/module" \
  "--config-settings=cmake.define.ITK_DIR=${work}/itk" \
  "--config-settings=cmake.define.VoxelMapsCore_DIR=${root}/build/core" \
  "--config-settings=cmake.define.Python3_EXECUTABLE=$(command -v python)" \
  --config-settings=cmake.define.ITK_FORBID_DOWNLOADS=ON --config-settings=cmake.define.ITK_USE_KWSTYLE=OFF \
  --config-settings=cmake.define.ITK_USE_SYSTEM_CASTXML=ON --config-settings=cmake.define.ITK_USE_SYSTEM_SWIG=ON
# The core is the one of the wheel voxelmaps.
log_on_failure module.log auditwheel repair --exclude "libVoxelMapsCore.so.*" --wheel-dir . linux/itk_voxelmaps-*.whl
log_on_failure module.log python "${root}/scripts/complete_wheel.py" itk_voxelmaps-*.whl itk-source
say "done"
ls "${work}"/itk_voxelmaps-*.whl
