#!/usr/bin/env bash
# Format all C++ and CUDA sources with clang-format, CMake files with gersemi, and Python with black; with --check, only
# say which files would change. The versions are those of .pre-commit-config.yaml, from PyPI, in a folder of build/:
# another version of clang-format breaks lines differently, and version 14 cannot read .clang-format at all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version_of() { sed -n "\\|/$1\$|{n; s/^ *rev: v\\{0,1\\}//p}" .pre-commit-config.yaml; }
clang_format="$(version_of mirrors-clang-format)"
gersemi="$(version_of gersemi)"
black="$(version_of black)"

tools="build/format-tools-${clang_format}-${gersemi}-${black}"
if [[ ! -e "${tools}/complete" ]]; then
  rm -rf "${tools}"
  python3 -m venv "${tools}"
  "${tools}/bin/pip" --quiet --disable-pip-version-check install \
    "clang-format==${clang_format}" "gersemi==${gersemi}" "black==${black}"
  touch "${tools}/complete"
fi

clang_mode=(-i)
gersemi_mode=(--in-place)
black_mode=(--quiet)
if [[ "${1:-}" == --check ]]; then
  clang_mode=(--dry-run --Werror)
  gersemi_mode=(--check)
  black_mode=(--check --quiet)
fi

status=0
files() { git ls-files -z --cached --others --exclude-standard "$@"; }
files '*.h' '*.hxx' '*.cxx' '*.cu' '*.cuh' | xargs -0 "${tools}/bin/clang-format" "${clang_mode[@]}" || status=1
files '*CMakeLists.txt' '*.cmake' | xargs -0 "${tools}/bin/gersemi" "${gersemi_mode[@]}" || status=1
files '*.py' '*.pyi' | xargs -0 "${tools}/bin/black" "${black_mode[@]}" || status=1
exit "${status}"
