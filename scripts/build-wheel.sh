#!/usr/bin/env bash
# Build the wheel itk-voxelmaps, which installs next to PyPI's itk 5.4, into build/wheel:
#
#   build-wheel.sh [--itk-source FOLDER] [--work FOLDER] [CMAKE-DEFINITION...]
#
#   --itk-source FOLDER   source of ITK 5.4, such as a clone; it is not changed. Default: Debian's source package
#   --work FOLDER         where everything is built and the wheel is left; default build/wheel
#   CMAKE-DEFINITION      for the module, such as VoxelMaps_USE_CUDA=OFF or CMAKE_CUDA_ARCHITECTURES=90
#
# Needs the packages of Debian and PyPI alone. A second run only rebuilds the module.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

itk_source=
work="${root}/build/wheel"
definitions=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --itk-source | --work)
      if [[ -z "${2:-}" ]]; then
        echo "build-wheel.sh: $1 needs a folder" >&2
        exit 1
      fi
      if [[ "$1" == --work ]]; then work="$(realpath -m "$2")"; else itk_source="$(realpath "$2")"; fi
      shift 2
      ;;
    [!-]*=*)
      definitions+=("--config-settings=cmake.define.$1")
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
say() { printf 'build-wheel.sh: %s (%s s)\n' "$*" "${SECONDS}" >&2; }

log_on_failure() {
  local log="$1"
  shift
  "$@" >"${log}" 2>&1 || {
    tail -n 60 "${log}" >&2
    say "failed; all output is in ${work}/${log}"
    exit 1
  }
}

"${root}/scripts/install-packages.sh" "${root}/scripts/apt-packages-wheel.txt" >&2

# The tools, in an environment that depends on the list.
list="${root}/scripts/wheel-requirements.txt"
if ! cmp --silent "${list}" tools/complete.txt; then
  say "tools from PyPI"
  rm -rf tools
  /usr/bin/python3 -m venv tools
  tools/bin/pip --quiet --disable-pip-version-check install -r "${list}" >&2
  cp "${list}" tools/complete.txt
fi
export PATH="${work}/tools/bin:${PATH}"

# ITK's source. Debian's is fetched through lists of its own, so that this needs no root and does not change the system.
if [[ ! -s itk-source/complete.txt ]]; then
  rm -rf itk-source unpacked
  if [[ -n "${itk_source}" ]]; then
    say "copying ${itk_source}"
    mkdir itk-source
    tar -C "${itk_source}" --exclude=./.git -c . | tar -C itk-source -x
  else
    suite=forky
    release="$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)"
    site="$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
      sed -n "s/ ${release} main\$//p" | head -n 1)"
    say "source package of ITK from ${site:=http://deb.debian.org/debian} ${suite}"
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
  if ! grep -q '^set(ITK_VERSION_MAJOR "5")' itk-source/CMake/itkVersion.cmake ||
    ! grep -q '^set(ITK_VERSION_MINOR "4")' itk-source/CMake/itkVersion.cmake; then
    rm -rf itk-source
    say "the source of ITK is not of version 5.4, which the wheel needs"
    exit 1
  fi
  # PyPI's ITK makes Threading Building Blocks the default of all its libraries. This one has none: its thread pool serves.
  threader=itk-source/Modules/Core/Common/src/itkMultiThreaderBase.cxx
  sed -i '/ITK has been built without TBB support/s/itkGenericExceptionMacro(.*);/return PoolMultiThreader::New();/' "${threader}"
  if grep -q 'without TBB support' "${threader}"; then
    say "${threader} is not as expected; cannot make the thread pool stand in for TBB"
    exit 1
  fi
  echo complete >itk-source/complete.txt
fi

# ITK: the static library ITKCommon, and the descriptions of its wrapping. The wrapping itself is PyPI's and not compiled.
if [[ ! -s itk/complete.txt ]]; then
  say "ITKCommon"
  rm -rf itk
  types=()
  for type in unsigned_char unsigned_short signed_short float double vector_float; do
    types+=("-DITK_WRAP_${type}=ON")
  done
  for type in covariant_vector_float covariant_vector_double vector_double complex_float complex_double rgb_unsigned_char \
    rgb_unsigned_short rgba_unsigned_char rgba_unsigned_short; do
    types+=("-DITK_WRAP_${type}=OFF")
  done
  log_on_failure itk.log cmake --log-level=WARNING -S itk-source -B itk -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF \
    -DITK_BUILD_DEFAULT_MODULES=OFF -DModule_ITKCommon=ON -DITK_FORBID_DOWNLOADS=ON -DITK_USE_KWSTYLE=OFF \
    -DITK_USE_SYSTEM_CASTXML=ON -DITK_USE_SYSTEM_SWIG=ON -DITK_WRAP_PYTHON=ON "-DITK_WRAP_IMAGE_DIMS=2;3" "${types[@]}" \
    "-DPython3_EXECUTABLE=${work}/tools/bin/python"
  log_on_failure itk.log ninja -C itk -j "${jobs}" ITKCommon
  say "descriptions of ITKCommon's wrapping"
  log_on_failure itk.log ninja -C itk -j "${jobs}" ITKCommonSwig
  echo complete >itk/complete.txt
fi

# The module. A build folder for each list of definitions, since CMake keeps those of earlier runs.
say "module"
module="module-$(printf '%s\n' "${definitions[@]:-}" | sha256sum | cut -c1-8)"
rm -rf linux ./*.whl
CMAKE_BUILD_PARALLEL_LEVEL="${jobs}" log_on_failure module.log tools/bin/pip --disable-pip-version-check wheel "${root}" \
  --verbose --no-deps --no-build-isolation --wheel-dir linux "--config-settings=build-dir=${work}/${module}" \
  "--config-settings=cmake.define.ITK_DIR=${work}/itk" \
  "--config-settings=cmake.define.Python3_EXECUTABLE=${work}/tools/bin/python" \
  --config-settings=cmake.define.ITK_FORBID_DOWNLOADS=ON --config-settings=cmake.define.ITK_USE_KWSTYLE=OFF \
  --config-settings=cmake.define.ITK_USE_SYSTEM_CASTXML=ON --config-settings=cmake.define.ITK_USE_SYSTEM_SWIG=ON \
  "${definitions[@]}"
log_on_failure module.log auditwheel repair --wheel-dir . linux/itk_voxelmaps-*.whl
say "done"
ls "${work}"/itk_voxelmaps-*.whl
