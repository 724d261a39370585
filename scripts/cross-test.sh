#!/usr/bin/env bash
# Build the core and its tests for another platform with Clang, as the PyPI package ziglang has it, and run the golden suites
# and a share of the other tests there, under emulation:
#
#   cross-test.sh linux-aarch64 | windows-x86_64 | macos-arm64 | macos-x86_64
#   cross-test.sh linux-aarch64 --wheel   also build the wheel, and test it with Debian's Python for Arm
#
# Debian's qemu-user and libc6-arm64-cross run programs for Arm, wine64 those for Windows. Nothing runs programs for macOS:
# they are compiled and linked, and the oldest macOS that they support is checked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/environment.sh

platform="${1:-}"
with_wheel="${2:-}"
if [[ "${with_wheel}" && "${platform} ${with_wheel}" != 'linux-aarch64 --wheel' ]]; then
  echo "cross-test.sh: '${with_wheel}' is not --wheel for linux-aarch64" >&2
  exit 1
fi
packages=(cmake googletest ninja-build python3-venv unzip)
run=()
case "${platform}" in
  linux-aarch64)
    target=aarch64-linux-gnu.2.28 system=Linux processor=aarch64
    packages+=(libc6-arm64-cross qemu-user)
    run=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
    ;;
  windows-x86_64)
    target=x86_64-windows-gnu system=Windows processor=x86_64
    packages+=(wine64)
    run=(env WINEDEBUG=-all "WINEPREFIX=${PWD}/build/cross/wine" /usr/lib/wine/wine64)
    ;;
  macos-arm64) target=aarch64-macos.11.0 system=Darwin processor=arm64 ;;
  macos-x86_64) target=x86_64-macos.11.0 system=Darwin processor=x86_64 ;;
  *)
    echo "cross-test.sh: '${platform}' is not linux-aarch64, windows-x86_64, macos-arm64 or macos-x86_64" >&2
    exit 1
    ;;
esac

folder="${PWD}/build/cross/${platform}"
mkdir -p "${folder}/bin"
require_packages "${packages[@]}"
if [[ ! -x build/cross/venv/bin/python ]]; then
  python3 -m venv build/cross/venv
fi
build/cross/venv/bin/python -m pip install --quiet --disable-pip-version-check ziglang==0.15.1

# CMake wants programs, not a program with a subcommand.
for tool in cc c++ ar ranlib; do
  options=''
  if [[ "${tool}" == c* ]]; then
    options="-target ${target}"
  fi
  printf '#!/bin/sh\nexec "%s/build/cross/venv/bin/python" -m ziglang %s %s "$@"\n' "${PWD}" "${tool}" "${options}" \
    >"${folder}/bin/${tool}"
  chmod +x "${folder}/bin/${tool}"
done
cat >"${folder}/toolchain.cmake" <<TOOLCHAIN
set(CMAKE_SYSTEM_NAME ${system})
set(CMAKE_SYSTEM_PROCESSOR ${processor})
set(CMAKE_C_COMPILER "${folder}/bin/cc")
set(CMAKE_CXX_COMPILER "${folder}/bin/c++")
set(CMAKE_AR "${folder}/bin/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${folder}/bin/ranlib" CACHE FILEPATH "")
# Programs for the platform may not run here while they are built.
set(CMAKE_LINK_DEPENDS_USE_LINKER FALSE)
set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)
set(CMAKE_FIND_ROOT_PATH "${folder}/install")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
TOOLCHAIN

# cross NAME SOURCE OPTION...: configure a project for the platform in the folder NAME.
cross() {
  local name="$1" source="$2"
  shift 2
  cmake --log-level=WARNING -S "${source}" -B "${folder}/${name}" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="${folder}/toolchain.cmake" "$@"
}

if [[ ! -d "${folder}/install" ]]; then
  cross googletest /usr/src/googletest -DBUILD_GMOCK=OFF -DCMAKE_INSTALL_PREFIX="${folder}/install"
  cmake --build "${folder}/googletest" --target install >"${folder}/googletest.txt"
fi
cross core core -DBUILD_TESTING=ON -DVoxelMaps_USE_CUDA=OFF -DVoxelMaps_WARNINGS_AS_ERRORS=ON
cmake --build "${folder}/core" --parallel "$(nproc)" --target VoxelMapsCoreGoldenTests VoxelMapsCoreTests

tests="${folder}/core/test"
if [[ "${system}" == Darwin ]]; then
  for program in VoxelMapsCoreGoldenTests VoxelMapsCoreTests; do
    build/cross/venv/bin/python -c 'import pathlib, struct, sys
data = pathlib.Path(sys.argv[1]).read_bytes()
offset, commands = 32, struct.unpack_from("<I", data, 16)[0]
for _ in range(commands):
    command, size = struct.unpack_from("<2I", data, offset)
    if command == 0x32:  # LC_BUILD_VERSION
        version = struct.unpack_from("<4I", data, offset + 8)[1]
        sys.exit(0 if version >> 16 == 11 else f"{sys.argv[1]}: needs macOS {version >> 16}, not 11")
    offset += size
sys.exit(f"{sys.argv[1]}: does not state the oldest macOS")' "${tests}/${program}"
  done
  echo "cross-test.sh: ${platform} compiles and links for macOS 11; nothing was run"
  exit 0
fi
# The share of the other tests: cases against oracles, once per texture class and for one pixel type of connectedness.
filter='TextureClassJob*.*RandomCases*:TextureClassJob*.SmallCases:*Random.*/Float:WeightedMatrices*:Enums.*'
filter+=':GrayLevelDiscretization.*:Log2.*:WideProduct.*:ThreadPool.*:HostMemory.*'
suffix=''
if [[ "${system}" == Windows ]]; then
  suffix=.exe
  # Creates Wine's prefix, which two programs that start at once would both create.
  "${run[@]}" wineboot --init >"${folder}/wineboot.txt" 2>&1
fi
"${run[@]}" "${tests}/VoxelMapsCoreGoldenTests${suffix}" --gtest_brief=1 >"${folder}/golden.txt" 2>&1 &
golden=$!
result=0
"${run[@]}" "${tests}/VoxelMapsCoreTests${suffix}" --gtest_brief=1 "--gtest_filter=${filter}" >"${folder}/tests.txt" 2>&1 ||
  result=1
wait "${golden}" || result=1
tail -n 3 "${folder}/golden.txt" "${folder}/tests.txt"
if [[ "${with_wheel}" ]]; then
  # Debian's packages are unpacked only: emulated programs find them by their folder.
  root="${folder}/debian"
  require_packages debootstrap
  if [[ ! -x "${root}/usr/bin/python3.11" ]]; then
    debootstrap --arch=arm64 --foreign --variant=minbase --include=python3,libpython3.11-dev bookworm "${root}" \
      >"${folder}/debootstrap.txt"
    for package in "${root}"/var/cache/apt/archives/*.deb; do
      dpkg-deb --fsys-tarfile "${package}" | tar --extract --keep-directory-symlink --directory "${root}"
    done
  fi
  mkdir -p build/wheel
  wheel_tools
  CXXFLAGS="${CXXFLAGS} -idirafter ${root}/usr/include" _PYTHON_HOST_PLATFORM=linux-aarch64 \
    pip wheel . --quiet --no-deps --no-build-isolation --wheel-dir "${folder}/wheel" \
    --config-settings=build-dir="${folder}/package" \
    --config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE="${folder}/toolchain.cmake" \
    --config-settings=cmake.define.Python3_INCLUDE_DIR="${root}/usr/include/python3.11" \
    --config-settings=cmake.define.VoxelMaps_USE_CUDA=OFF
  rm -rf "${folder}/site"
  pip install --quiet --target "${folder}/site" --platform manylinux_2_28_aarch64 --python-version 3.11 \
    --only-binary :all: numpy pytest
  unzip -q "${folder}"/wheel/voxelmaps-*_aarch64.whl -d "${folder}/site"
  # Emulated programs cannot start themselves in new processes.
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="${folder}/site" qemu-aarch64 -L "${root}" "${root}/usr/bin/python3.11" \
    -m pytest --quiet -p no:cacheprovider python/test/test_feature_maps.py -k 'not processes' || result=1
fi
exit "${result}"
