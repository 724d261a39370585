#!/usr/bin/env bash
# Collect the test and benchmark programs, and what they need, into a folder that runs on a GPU machine with another Linux
# and without ITK, and pack it:  scripts/gpu-bundle.sh [BUILD-FOLDER [BUNDLE-FOLDER]]
# The build needs BUILD_TESTING and VoxelMaps_BUILD_BENCHMARKS, for itk::CudaImage ITKCudaCommon_SOURCE_DIR, and, to be small,
# the architecture of that machine alone in CMAKE_CUDA_ARCHITECTURES. Carry BUNDLE-FOLDER.tar.xz to the GPU machine, and run
# BUNDLE-FOLDER/run-gpu-tests.sh there.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="${1:-${root}/build}"
bundle="${2:-${build}/gpu-bundle}"
max_bytes=$((64 * 1000 * 1000))

rm -rf "${bundle}"
mkdir -p "${bundle}/lib"
programs=()
for program in test/core/VoxelMapsCore{,Golden}Tests test/VoxelMaps{,CudaImage}Tests \
  benchmarks/{Texture,Connectedness,Papers,Chain}Benchmark; do
  if [[ -x "${build}/${program}" ]]; then
    programs+=("${build}/${program}")
  else
    echo "left out, as it is not built: ${program}"
  fi
done

for program in "${programs[@]}"; do
  strip -o "${bundle}/$(basename "${program}")" "${program}"
  # The GPU machine has newer C and C++ libraries of its own.
  ldd "${program}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -v -E '/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux[^/]*)\.so[^/]*$' || true
done | sort -u | while read -r library; do
  strip -o "${bundle}/lib/$(basename "${library}")" "$(readlink -f "${library}")"
done

cp "${root}/scripts/run-gpu-tests.sh" "${root}/benchmarks/tune.py" "${bundle}/"

# The images of the papers' tables, and what makes the tables.
if [[ -e "${root}/build/papers/T1.raw" ]]; then
  mkdir "${bundle}/papers"
  cp "${root}/benchmarks/papers.py" "${root}"/build/papers/{*.raw,source.txt} "${bundle}/papers/"
else
  echo "left out: the papers' images, which scripts/papers.sh --images-only makes"
fi

# Python: the package that is installed in the environment, and the tests that need no ITK. The GPU machine has Python, NumPy, pytest
# and array libraries.
site="$(ls -d "${root}"/build/venv/lib/python3.*/site-packages 2>/dev/null | head -n 1 || true)"
has_cuda='import sys; from voxelmaps import _core; sys.exit("without CUDA" in _core.reason_for_no_device())'
if [[ -n "${site}" ]] && "${root}/build/venv/bin/python" -c "${has_cuda}" 2>/dev/null; then
  mkdir -p "${bundle}/python/test"
  (cd "${site}" && tar -c --exclude=__pycache__ voxelmaps) | tar -C "${bundle}/python" -x
  cp -r "${root}/examples" "${bundle}/"
  (cd "${root}/python/test" && cp {conftest,array_libraries,*_oracle}.py \
    test_{connectedness,cuda_images,feature_maps,filter_image,ibsi,labels,libraries,maps,resample,rules,running,transfers,windows}.py \
    "${bundle}/python/test/")
else
  echo "left out: Python, as scripts/python-environment.sh has not installed a wheel with CUDA"
fi

# Every program holds all kernels, which count once in the archive: the dictionary is larger than all programs together.
tar -C "$(dirname "${bundle}")" -c "$(basename "${bundle}")" | xz -T1 --lzma2=preset=3,dict=256MiB >"${bundle}.tar.xz"
bytes="$(stat -c %s "${bundle}.tar.xz")"
echo "${bundle}.tar.xz: ${bytes} bytes"
if ((bytes > max_bytes)); then
  echo "that is more than ${max_bytes} bytes" >&2
  exit 1
fi
