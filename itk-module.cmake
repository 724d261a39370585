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
    ITKImageAdaptors
    ITKImageFilterBase
    ITKImageGrid
    ITKImageIntensity
    ITKIOGDCM
    ITKIONIFTI
    ${VoxelMaps_ITK_GOOGLETEST}
  DESCRIPTION
    "Per-voxel maps of 2D and 3D images: texture features of the window around every voxel, fuzzy connectedness, and labels from seeds."
  EXCLUDE_FROM_DEFAULT
  ENABLE_SHARED
)
