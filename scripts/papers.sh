#!/usr/bin/env bash
# Measure what the two papers behind VoxelMaps measured, and print their tables with the papers' numbers next to ours; on a
# fresh Debian 12, install what is missing first. Tables and pictures go to build/papers.
#
#   papers.sh [--brainweb FOLDER] [--images-only] [OPTION...]
#
#   --brainweb FOLDER   with brainweb_t1.mha, brainweb_t2.mha and brainweb_pd.mha: BrainWeb's head of 181×217×180 8-bit voxels;
#                       otherwise, slices of T1 and PD from Debian's ITK examples are used
#   --images-only       only make the images, which scripts/gpu-bundle.sh takes along to a GPU machine
#   OPTION              of benchmarks/papers.py: --only run-lengths, --only connectedness, --quick
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

images=(--debian build/data)
program=build/benchmarks/PapersBenchmark
options=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --brainweb) images=(--brainweb "${2:?--brainweb needs a folder}") && shift ;;
    --images-only) program= ;;
    *) options+=("$1") ;;
  esac
  shift
done
source scripts/environment.sh

say "Packages"
quietly packages install_packages build

say "Images"
[[ "${images[0]}" == --brainweb ]] || quietly data scripts/fetch-data.sh build/data
quietly python-packages scripts/python-environment.sh --packages-only
if [[ -n "${program}" ]]; then
  say "Core and program"
  quietly core scripts/build-core.sh
  configure -DVoxelMaps_BUILD_BENCHMARKS=ON
  build PapersBenchmark
  say "Measurements"
fi
build/venv/bin/python benchmarks/papers.py ${program:+"${program}"} --out build/papers "${images[@]}" "${options[@]}"
