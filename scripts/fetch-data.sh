#!/usr/bin/env bash
# Put images of real heads into a folder (default: build/data): slices of BrainWeb and a 3D head, from Debian's package
# of ITK examples. Does nothing, and needs no network, if they are there.
set -euo pipefail

folder="${1:-$(dirname "${BASH_SOURCE[0]}")/../build/data}"
images=(BrainT1Slice.png BrainProtonDensitySlice.png KmeansTest_T1UCharRaw.nii.gz)

# Slim systems drop what lies in /usr/share/doc when a package is installed, so its files are unpacked here instead.
inside=./usr/share/doc/insighttoolkit5-examples/examples/Data
missing=()
for image in "${images[@]}"; do
  if [[ ! -s "${folder}/${image}" ]]; then
    missing+=("${inside}/${image}")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

mkdir -p "${folder}"
cd "${folder}"
rm -rf unpacked && mkdir unpacked && cd unpacked
if ! apt-get --quiet download insighttoolkit5-examples 2>../download.log; then
  as_root=()
  if [[ ${EUID} -ne 0 ]]; then
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get --quiet update
  apt-get --quiet download insighttoolkit5-examples 2>../download.log || {
    cat ../download.log >&2
    exit 1
  }
fi
dpkg-deb --fsys-tarfile insighttoolkit5-examples_*.deb | tar -x "${missing[@]}"
mv "${missing[@]}" ..
cd .. && rm -rf unpacked
