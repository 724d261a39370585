# GoogleTest comes with ITK, or from the system where this ITK was built without it.
set(VoxelMaps_ITK_GOOGLETEST)
if(ITK_SOURCE_DIR OR "ITKGoogleTest" IN_LIST ITK_MODULES_ENABLED)
  set(VoxelMaps_ITK_GOOGLETEST ITKGoogleTest)
endif()

itk_module(
  VoxelMaps
  DEPENDS
    ITKCommon
  TEST_DEPENDS
    ITKImageFilterBase
    ${VoxelMaps_ITK_GOOGLETEST}
  DESCRIPTION
    "Per-voxel maps of 2D and 3D images: run length features of the window around every voxel, and fuzzy connectedness."
  EXCLUDE_FROM_DEFAULT
  ENABLE_SHARED
)
