#!/usr/bin/env bash
# Build the module with ITK from its source, such as clones of v5.2.1, v5.4.4 and main: against ITK's build tree as an
# external module, against its installation as a package, and inside its source tree. A program uses each of them.
# Compiles ITKCommon with what it depends on, and the core inside the source tree.
#
#   test-itk-versions.sh ITK-SOURCE...
#
# CC and CXX choose compilers, WORK another folder than build/itk-versions. A second run builds only what has changed.
set -Eeuo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
work="$(realpath -m "${WORK:-${root}/build/itk-versions}")"
if [[ $# -eq 0 ]]; then
  sed -n '6s/^#  */usage: /p' "${BASH_SOURCE[0]}" >&2
  exit 1
fi

configure() { cmake --log-level=WARNING -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" "$@"; }
build() { cmake --build "$1" --parallel "${JOBS:-$(nproc)}"; }
# Build and run test/consumer with what find_package() finds in a folder.
use() {
  configure -S "$1" -B "$2" "${@:3}"
  build "$2"
  "$2/Consumer"
}

mkdir -p "${work}/itk-consumer"
cat >"${work}/itk-consumer/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.16.3...3.29.0)
project(Consumer LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(ITK REQUIRED COMPONENTS VoxelMaps)
if(ITK_VERSION VERSION_LESS 6)
  include(${ITK_USE_FILE})
else()
  set(ITK_LIBRARIES ${ITK_INTERFACE_LIBRARIES})
endif()
add_executable(Consumer ${VoxelMaps_ROOT_DIR}/test/consumer/main.cxx)
target_link_libraries(Consumer PRIVATE ${ITK_LIBRARIES})
CMAKE
cd "${root}"
[[ -e build/core/VoxelMapsCoreConfig.cmake ]] || scripts/build-core.sh VoxelMaps_USE_CUDA=OFF
core="-DVoxelMapsCore_DIR=${root}/build/core"
exec {log}>&1
for source in "$@"; do
  source="$(realpath "${source}")"
  version="$(sed -n 's/^set(ITK_VERSION_[MP][A-Z]* "\([0-9]*\)").*/\1/p' "${source}/CMake/itkVersion.cmake" | paste -sd.)"
  folder="${work}/${version}"
  mkdir -p "${folder}"
  say() { echo "test-itk-versions.sh: ITK ${version}: $*" >&"${log}"; }
  # Links to all files of the source, which stays as it is.
  [[ -e "${folder}/source" ]] || cp -rs "${source}" "${folder}/source"
  trap 'tail -n 40 "${folder}/log.txt" >&${log}; say "failed; all output is in ${folder}/log.txt"' ERR
  exec >"${folder}/log.txt" 2>&1
  say "ITKCommon"
  rm -f "${folder}/source/Modules/External/VoxelMaps"
  itk=(-S "${folder}/source" -B "${folder}/itk" -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF -DBUILD_SHARED_LIBS=OFF
    -DITK_BUILD_DEFAULT_MODULES=OFF -DITK_FORBID_DOWNLOADS=ON "-DCMAKE_INSTALL_PREFIX=${folder}/prefix")
  configure "${itk[@]}" -DModule_ITKCommon=ON -DModule_VoxelMaps=OFF
  build "${folder}/itk"
  cmake --install "${folder}/itk"
  say "external module"
  configure -S "${root}" -B "${folder}/external" "-DITK_DIR=${folder}/itk" "${core}" -DBUILD_TESTING=OFF
  build "${folder}/external"
  use "${work}/itk-consumer" "${folder}/use-external" "-DITK_DIR=${folder}/itk" "-DVoxelMaps_ROOT_DIR=${root}"

  say "package"
  installed="$(dirname "$(find "${folder}/prefix" -name ITKConfig.cmake)")"
  configure -S "${root}" -B "${folder}/package" "-DITK_DIR=${installed}" "${core}"
  build "${folder}/package"
  use "${root}/test/consumer" "${folder}/use-package" "-DITK_DIR=${installed}" "-DVoxelMaps_DIR=${folder}/package" "${core}"

  say "module in the source tree"
  # ITK 6 wants a file that says where to fetch the folders in Modules/Remote.
  ln -s "${root}" "${folder}/source/Modules/External/VoxelMaps"
  configure "${itk[@]}" -DModule_VoxelMaps=ON
  build "${folder}/itk"
  use "${work}/itk-consumer" "${folder}/use-source" "-DITK_DIR=${folder}/itk" "-DVoxelMaps_ROOT_DIR=${root}"
  say "passed"
  exec >&"${log}" 2>&1
done
