itk_module(
  VoxelMaps
  DEPENDS
    ITKCommon
  TEST_DEPENDS
    ITKImageGrid
    ITKTestKernel
  DESCRIPTION
    "Per-voxel maps of 2D and 3D images: run length features of the window around every voxel, and fuzzy connectedness."
  EXCLUDE_FROM_DEFAULT
  ENABLE_SHARED
)
