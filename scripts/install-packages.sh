#!/usr/bin/env bash
# Install the packages of apt-packages.txt (or of the given lists) that are missing. Does nothing, and needs no network,
# if there are none.
set -euo pipefail

lists=("$(dirname "${BASH_SOURCE[0]}")/apt-packages.txt")
if [[ $# -gt 0 ]]; then
  lists=("$@")
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install-packages.sh: no apt here; install what corresponds to the Debian packages in ${lists[*]}" >&2
  exit 1
fi

missing=()
while read -r package; do
  status="$(dpkg-query -W -f '${db:Status-Status}' "${package}" 2>/dev/null || true)"
  if [[ "${status}" != installed ]]; then
    missing+=("${package}")
  fi
done < <(sed 's/#.*//' "${lists[@]}" | awk 'NF { print $1 }')

if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi
echo "Installing ${missing[*]}"

as_root=()
if [[ ${EUID} -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install-packages.sh: not root and no sudo; as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

# Old lists name packages that mirrors no longer have, so a failed installation gets one more try with new lists.
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
  apt-get install --yes --quiet --no-install-recommends "${missing[@]}")
if ! apt-cache policy "${missing[@]}" 2>/dev/null | grep -q 'Candidate: [^(]' || ! "${install[@]}"; then
  "${as_root[@]}" apt-get update --quiet
  "${install[@]}"
fi
