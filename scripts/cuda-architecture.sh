#!/usr/bin/env bash
# Print the CUDA architecture to build for on this machine: that of its device, or the one that is tested, 9.0. For all of
# them, which take long, leave CMAKE_CUDA_ARCHITECTURES alone.
set -euo pipefail
capability="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 || true)"
if [[ "${capability}" =~ ^[0-9]+\.[0-9]$ ]]; then
  echo "${capability/./}"
else
  echo 90
fi
