# Sourced by test.sh and demo.sh in the top folder of the checkout: installs what is missing, sets cuda_architecture, and lets
# the C++ build and the wheel share their object files, since both compile the same engines.
scripts/install-packages.sh
cuda_architecture="$(scripts/cuda-architecture.sh)"
export CCACHE_DIR="${CCACHE_DIR:-${PWD}/build/ccache}"
export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
