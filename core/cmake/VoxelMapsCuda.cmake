# CUDA for the engines: language, architectures, and flags that keep the bits equal to those of the CPU.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(VoxelMaps_CHOOSE_ARCHITECTURES ON)
  # What a compiler without this setting is tested with; the real choice is made below.
  set(CMAKE_CUDA_ARCHITECTURES 75)
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
  message(FATAL_ERROR "VoxelMaps needs CUDA 12 or later; this is ${CMAKE_CUDA_COMPILER_VERSION}")
endif()
if(VoxelMaps_CHOOSE_ARCHITECTURES)
  # Those of the devices of this machine.
  execute_process(
    COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capabilities
    ERROR_QUIET
  )
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${capabilities}")
  string(REPLACE "." "" CMAKE_CUDA_ARCHITECTURES "${capabilities}")
  list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    # All major ones from 7.5 on, and PTX of the newest for what comes later.
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
      list(APPEND CMAKE_CUDA_ARCHITECTURES 90)
    else()
      list(APPEND CMAKE_CUDA_ARCHITECTURES 90-real 100-real 120)
    endif()
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}" CACHE STRING "CUDA architectures" FORCE)
endif()
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
# Programs must start on machines without a driver and without the toolkit.
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)

# Named, so that programs of projects without CUDA can link the static library.
find_package(CUDAToolkit REQUIRED)

# A contracted multiply-add would round once where the documented last step rounds twice.
set(VoxelMaps_CUDA_OPTIONS -fmad=false -Xcompiler=-Wall,-Wextra,-ffp-contract=off)
if(VoxelMaps_WARNINGS_AS_ERRORS)
  list(APPEND VoxelMaps_CUDA_OPTIONS -Werror=all-warnings)
endif()
# nvcc derives names of internal symbols from path, name and content of the source. One path for all: builds in other folders are
# identical. The option is not documented, and tested with this version alone.
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0 AND CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13.1)
  list(APPEND VoxelMaps_CUDA_OPTIONS -Xcudafe=--orig_src_path_name=VoxelMaps)
endif()
