# shellcheck shell=bash
# Functions of the scripts, which source this file in the top folder of the checkout.
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

# as_root COMMAND...: by sudo, unless this is root already.
as_root() {
  if [[ ${EUID} -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "neither root nor sudo; as root, run: $*" >&2
    return 1
  fi
}

# install_packages PURPOSE...: the packages of debian-packages.txt for these purposes.
install_packages() {
  local packages
  readarray -t packages < <(awk -v "purposes= $* " \
    '!/^#/ { for (i = 2; i <= NF; ++i) if (index(purposes, " " $i " ")) { print $1; next } }' scripts/debian-packages.txt)
  require_packages "${packages[@]}"
}

# require_packages PACKAGE...: install those of Debian that are missing. Needs no network if there are none.
require_packages() {
  local package missing=()
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "no apt here; install what corresponds to the Debian packages $*" >&2
    return 1
  fi
  for package in "$@"; do
    if [[ "$(dpkg-query -W -f '${db:Status-Status}' "${package}" 2>/dev/null)" != installed ]]; then
      missing+=("${package}")
    fi
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    return
  fi
  echo "Installing ${missing[*]}"
  local install=(as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "${missing[@]}")
  # Old lists name packages that mirrors no longer have, so a failed installation gets one more try with new lists.
  if ! apt-cache policy "${missing[@]}" 2>/dev/null | grep -q 'Candidate: [^(]' || ! "${install[@]}"; then
    as_root apt-get update --quiet
    "${install[@]}"
  fi
}

# requirements NAME: the PyPI packages of an extra (with those of the package itself) or of a dependency group in pyproject.toml.
requirements() {
  /usr/bin/python3 - "$1" <<'PYTHON'
import re, sys, tomllib
content = tomllib.load(open("pyproject.toml", "rb"))
project, groups = content["project"], content["dependency-groups"]
def expand(requirements):
    for requirement in requirements:
        own = re.match(project["name"] + r"\[(.*)\]", requirement)
        for extra in own[1].split(",") if own else ():
            yield from expand(project["optional-dependencies"][extra])
        if not own:
            yield requirement
name = sys.argv[1]
found = groups[name] if name in groups else [*project["dependencies"], *project["optional-dependencies"][name]]
print("\n".join(sorted(set(expand(found)))))
PYTHON
}

# virtual_environment FOLDER NAME: a Python environment with the PyPI packages of requirements NAME. It outlives what else is installed
# there, but not a change of these.
virtual_environment() {
  local wanted
  wanted="$(requirements "$2")"
  if [[ "$(cat "$1/complete.txt" 2>/dev/null)" != "${wanted}" ]]; then
    rm -rf "$1"
    /usr/bin/python3 -m venv "$1"
    "$1/bin/pip" --quiet --disable-pip-version-check install -r /dev/stdin <<<"${wanted}"
    echo "${wanted}" >"$1/complete.txt"
  fi
}

# wheel_tools: put what builds the wheels onto PATH. The same commit makes the same wheels: its date in all files, no names of folders
# in the libraries, and no order of Python's sets in the annotations that ITK writes.
wheel_tools() {
  virtual_environment build/wheel/tools wheels >&2
  export PATH="${PWD}/build/wheel/tools/bin:${PATH}" PIP_DISABLE_PIP_VERSION_CHECK=1
  SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || date +%s)}"
  export SOURCE_DATE_EPOCH PYTHONHASHSEED=0
  export CFLAGS="${CFLAGS:-} -ffile-prefix-map=${PWD}/=" CXXFLAGS="${CXXFLAGS:-} -ffile-prefix-map=${PWD}/="
}

# cuda_architecture: that of the device of this machine, or the one that is tested, 9.0. All of them take long to compile.
cuda_architecture() {
  local capability
  capability="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 || true)"
  [[ "${capability}" =~ ^[0-9]+\.[0-9]$ ]] || capability=9.0
  echo "${capability/./}"
}

# warnings_as_errors: with the compiler of Debian 12, which CI uses. Others may have new warnings.
warnings_as_errors() { [[ "$(g++ -dumpversion 2>/dev/null)" == 12 ]] && echo ON || echo OFF; }

# configure [OPTION...]: configure the C++ build for the core that scripts/build-core.sh has built.
# The same options wherever something is compiled, so that no script makes another one compile again.
configure() {
  quietly configure cmake --log-level=WARNING -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DVoxelMapsCore_DIR="${PWD}/build/core" -DVoxelMaps_BUILD_EXAMPLES=ON -DCMAKE_REQUIRE_FIND_PACKAGE_VTK=ON \
    -DVoxelMaps_WARNINGS_AS_ERRORS="$(warnings_as_errors)" "$@"
}

# build TARGET...: build targets of the C++ build.
build() {
  quietly "build-${1//\//-}" cmake --build build --parallel "$(nproc)" --target "$@"
}
