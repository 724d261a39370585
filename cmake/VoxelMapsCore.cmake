# The core: a build tree or an installation of core/, if VoxelMapsCore_DIR names one, or else compiled here. Sets
# VoxelMaps_USE_CUDA, and for ITK's module macros the include directories.
if(VoxelMapsCore_DIR)
  find_package(VoxelMapsCore ${PROJECT_VERSION} REQUIRED)
  set(VoxelMaps_USE_CUDA ${VoxelMapsCore_USE_CUDA})
  if(VoxelMaps_USE_CUDA)
    # For what is compiled here: benchmarks of the papers' own kernels.
    set(CMAKE_CUDA_ARCHITECTURES ${VoxelMapsCore_CUDA_ARCHITECTURES})
  endif()
  get_target_property(VoxelMaps_INCLUDE_DIRS VoxelMaps::VoxelMapsCore INTERFACE_INCLUDE_DIRECTORIES)
  # ITK's find_package() runs this code.
  set(
    VoxelMaps_EXPORT_CODE_BUILD
    "if(NOT VoxelMapsCore_DIR)
  set(VoxelMapsCore_DIR \"${VoxelMapsCore_DIR}\")
endif()
find_package(VoxelMapsCore REQUIRED)"
  )
else()
  if(NOT VoxelMaps_PACKAGE_PATH)
    set(VoxelMapsCore_IN_ITK_MODULE ON)
  endif()
  add_subdirectory(core)
  set(VoxelMaps_INCLUDE_DIRS "${CMAKE_CURRENT_SOURCE_DIR}/core/include" "${CMAKE_CURRENT_BINARY_DIR}/core/include")
  if(VoxelMaps_USE_CUDA)
    # A shared library brings the CUDA runtime with it, and projects that use ITK without this module need no toolkit.
    set(
      VoxelMaps_EXPORT_CODE_BUILD
      "if(NOT ITK_BUILD_SHARED AND NOT TARGET CUDA::cudart_static)
  find_package(CUDAToolkit QUIET)
endif()"
    )
  endif()
endif()
set(VoxelMaps_EXPORT_CODE_INSTALL "${VoxelMaps_EXPORT_CODE_BUILD}")

# The build tree of the core, for tests that install it; empty if it is installed already.
set(VoxelMapsCore_BUILD_DIR "${CMAKE_CURRENT_BINARY_DIR}/core")
if(VoxelMapsCore_DIR)
  set(VoxelMapsCore_BUILD_DIR)
  if(EXISTS "${VoxelMapsCore_DIR}/cmake_install.cmake")
    set(VoxelMapsCore_BUILD_DIR "${VoxelMapsCore_DIR}")
  endif()
endif()
