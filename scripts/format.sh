#!/usr/bin/env bash
# Format all C++ and CUDA sources with the clang-format of ITK; with --check, only say which would change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=19.1.7
tools=build/clang-format-${version}
if [[ ! -x "${tools}/bin/clang-format" ]]; then
  python3 -m venv "${tools}"
  "${tools}/bin/pip" --quiet install "clang-format==${version}"
fi
mode=(-i)
if [[ "${1:-}" == --check ]]; then
  mode=(--dry-run --Werror)
fi
git ls-files --cached --others --exclude-standard '*.h' '*.hxx' '*.cxx' '*.cu' '*.cuh' |
  xargs "${tools}/bin/clang-format" "${mode[@]}"
