# Sourced by test.sh and demo.sh in the top folder of the checkout.
mkdir -p build/log

# say TEXT: one line per step, with the seconds since the script started.
say() { printf '== %s (%s s)\n' "$*" "${SECONDS}"; }

# quietly LOG COMMAND [ARGUMENT...]: keep the output in build/log/LOG.txt; print its end if the command fails.
quietly() {
  local log="build/log/$1.txt"
  shift
  "$@" >"${log}" 2>&1 || {
    tail -n 60 "${log}" >&2
    say "failed: $*; all output is in ${log}" >&2
    return 1
  }
}

# build TARGET...: build targets of the C++ build, all if there are none.
build() {
  local name="${1:-all}"
  quietly "build-${name//\//-}" cmake --build build --parallel "$(nproc)" ${1:+--target "$@"}
}

# configure [OPTION...]: configure the C++ build for the core that scripts/build-core.sh has built.
# The same options wherever something is compiled, so that no script makes another one compile again.
configure() {
  quietly configure cmake --log-level=WARNING -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DVoxelMapsCore_DIR="${PWD}/build/core" -DVoxelMaps_BUILD_EXAMPLES=ON -DCMAKE_REQUIRE_FIND_PACKAGE_VTK=ON \
    -DVoxelMaps_WARNINGS_AS_ERRORS="$(scripts/warnings-as-errors.sh)" "$@"
}

say "Packages"
quietly packages scripts/install-packages.sh
