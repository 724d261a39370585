# itk::CudaImage for tests, benchmarks and examples: a target VoxelMapsCudaCommon, if there is ITKCudaCommon. That is a
# module of this ITK; or, as it builds as one only, its source code in ITKCudaCommon_SOURCE_DIR, which is compiled here.
set(ITKCudaCommon_SOURCE_DIR "" CACHE PATH "Source code of ITKCudaCommon 2.1, if it is no module of this ITK.")

if(ITKCudaCommon_SOURCE_DIR OR "CudaCommon" IN_LIST ITK_MODULES_ENABLED)
  # In each folder, to which imported targets belong.
  find_package(CUDAToolkit REQUIRED)
endif()
if(TARGET VoxelMapsCudaCommon)
  return()
endif()

if("CudaCommon" IN_LIST ITK_MODULES_ENABLED)
  find_package(ITK REQUIRED COMPONENTS CudaCommon)
  add_library(VoxelMapsCudaCommon INTERFACE)
  target_include_directories(VoxelMapsCudaCommon SYSTEM INTERFACE ${ITK_INCLUDE_DIRS})
  target_link_libraries(VoxelMapsCudaCommon INTERFACE ${ITK_LIBRARIES})
elseif(ITKCudaCommon_SOURCE_DIR)
  enable_language(CUDA)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/CudaCommon/CudaCommonExport.h" "#define CudaCommon_EXPORT\n")
  add_library(
    VoxelMapsCudaCommon
    STATIC
    ${ITKCudaCommon_SOURCE_DIR}/src/itkCudaDataManager.cxx
    ${ITKCudaCommon_SOURCE_DIR}/src/itkCudaSquareImage.cu
    ${ITKCudaCommon_SOURCE_DIR}/src/itkCudaUtil.cxx
  )
  target_compile_features(VoxelMapsCudaCommon PUBLIC cxx_std_17)
  target_include_directories(
    VoxelMapsCudaCommon
    SYSTEM
    PUBLIC "${ITKCudaCommon_SOURCE_DIR}/include" "${CMAKE_CURRENT_BINARY_DIR}/CudaCommon"
  )
  set(library VoxelMaps)
  if(TARGET VoxelMaps::VoxelMaps)
    set(library VoxelMaps::VoxelMaps)
  endif()
  target_link_libraries(VoxelMapsCudaCommon PUBLIC ${library} CUDA::cudart_static)
  # ITK 5.2 lacks a macro that its headers use.
  target_compile_options(
    VoxelMapsCudaCommon
    PUBLIC "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include itkVoxelMapsCompatibility.h>"
  )
endif()
