#!/usr/bin/env bash
# Collect the test and benchmark programs, and what they need, into one folder that runs on a GPU machine with another
# Linux and without ITK:  scripts/gpu-bundle.sh [BUILD-FOLDER [BUNDLE-FOLDER]]
# The build needs BUILD_TESTING and VoxelMaps_BUILD_BENCHMARKS, and to be small BUILD_SHARED_LIBS and, in
# CMAKE_CUDA_ARCHITECTURES, the architecture of that machine alone. On the GPU machine: BUNDLE-FOLDER/run-gpu-tests.sh.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="${1:-${root}/build}"
bundle="${2:-${build}/gpu-bundle}"
most_bytes=$((64 * 1000 * 1000))

rm -rf "${bundle}"
mkdir -p "${bundle}/lib" "${bundle}/data"
programs=()
for program in test/VoxelMapsTests test/VoxelMapsCudaTests benchmarks/RunLengthBenchmark \
  benchmarks/FuzzyConnectednessBenchmark; do
  if [[ -x "${build}/${program}" ]]; then
    programs+=("${build}/${program}")
  else
    echo "left out, as it is not built: ${program}"
  fi
done

for program in "${programs[@]}"; do
  strip -o "${bundle}/$(basename "${program}")" "${program}"
  # Of the C and C++ libraries, the GPU machine has its own, and newer ones.
  ldd "${program}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -v -E '/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux[^/]*)\.so[^/]*$' || true
done | sort -u | while read -r library; do
  strip -o "${bundle}/lib/$(basename "${library}")" "$(readlink -f "${library}")"
done

# Slices of the volumes are enough, and small.
data="${VOXELMAPS_BENCHMARK_DATA:-${root}/../shared/data}"
if [[ -x "${build}/benchmarks/RunLengthBenchmark" && -r "${data}/brainweb_t1.mha" ]]; then
  "${build}/benchmarks/RunLengthBenchmark" --data "${data}" --write-slices "${bundle}/data"
else
  echo "no data: the benchmarks will use a synthetic head"
fi
cp "${root}/scripts/run-gpu-tests.sh" "${bundle}/"

bytes="$(du -sb "${bundle}" | cut -f1)"
echo "${bundle}: ${bytes} bytes"
if ((bytes > most_bytes)); then
  echo "that is more than ${most_bytes} bytes" >&2
  exit 1
fi
