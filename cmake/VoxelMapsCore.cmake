# The core: from VoxelMapsCore_DIR, a build tree or an installation of core/, or else compiled here. Sets VoxelMaps_USE_CUDA.
if(VoxelMapsCore_DIR)
  find_package(VoxelMapsCore ${PROJECT_VERSION} REQUIRED)
  set(VoxelMaps_USE_CUDA ${VoxelMapsCore_USE_CUDA})
  # ITK's find_package() runs this code.
  set(
    VoxelMaps_EXPORT_CODE_BUILD
    "set(VoxelMapsCore_DIR \"${VoxelMapsCore_DIR}\")\nfind_package(VoxelMapsCore REQUIRED)"
  )
  set(VoxelMaps_EXPORT_CODE_INSTALL "${VoxelMaps_EXPORT_CODE_BUILD}")
else()
  if(NOT VoxelMaps_PACKAGE_PATH)
    set(VoxelMapsCore_IN_ITK_MODULE ON)
  endif()
  add_subdirectory(core)
  if(VoxelMaps_USE_CUDA)
    # A shared library brings the CUDA runtime with it, and projects that use ITK without this module need no toolkit.
    set(
      VoxelMaps_EXPORT_CODE_INSTALL
      "if(NOT ITK_BUILD_SHARED AND NOT TARGET CUDA::cudart_static)
  find_package(CUDAToolkit QUIET)
endif()"
    )
    set(VoxelMaps_EXPORT_CODE_BUILD "${VoxelMaps_EXPORT_CODE_INSTALL}")
  endif()
endif()
