# itk::CudaImage for tests and examples: a target VoxelMapsCudaCommon, if there is ITKCudaCommon. That is a module of this
# ITK; or, as it builds as one only, its source code in ITKCudaCommon_SOURCE_DIR, which is then compiled here.
set(ITKCudaCommon_SOURCE_DIR "" CACHE PATH "Source code of ITKCudaCommon 2.1, if it is no module of this ITK.")

if(NOT TARGET VoxelMapsCudaCommon)
  if("CudaCommon" IN_LIST ITK_MODULES_ENABLED)
    find_package(ITK REQUIRED COMPONENTS CudaCommon)
    add_library(VoxelMapsCudaCommon INTERFACE)
    target_include_directories(VoxelMapsCudaCommon SYSTEM INTERFACE ${ITK_INCLUDE_DIRS})
    target_link_libraries(VoxelMapsCudaCommon INTERFACE ${ITK_LIBRARIES})
  elseif(ITKCudaCommon_SOURCE_DIR)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(VoxelMaps_CUDACOMMON_INCLUDE_DIR "${CMAKE_CURRENT_BINARY_DIR}/CudaCommon")
    file(WRITE "${VoxelMaps_CUDACOMMON_INCLUDE_DIR}/CudaCommonExport.h" "#define CudaCommon_EXPORT\n")
    set(VoxelMaps_CUDACOMMON_SOURCES ${ITKCudaCommon_SOURCE_DIR}/src/itkCudaDataManager.cxx
                                     ${ITKCudaCommon_SOURCE_DIR}/src/itkCudaUtil.cxx
    )
    add_library(VoxelMapsCudaCommon STATIC ${VoxelMaps_CUDACOMMON_SOURCES} ${ITKCudaCommon_SOURCE_DIR}/src/itkCudaSquareImage.cu)
    target_compile_features(VoxelMapsCudaCommon PUBLIC cxx_std_17)
    target_include_directories(
      VoxelMapsCudaCommon SYSTEM PUBLIC "${ITKCudaCommon_SOURCE_DIR}/include" "${VoxelMaps_CUDACOMMON_INCLUDE_DIR}"
    )
    target_link_libraries(
      VoxelMapsCudaCommon PUBLIC $<IF:$<TARGET_EXISTS:VoxelMaps::VoxelMaps>,VoxelMaps::VoxelMaps,VoxelMaps> CUDA::cudart_static
    )
    # ITK 5.2 lacks a macro that its headers use.
    target_compile_options(VoxelMapsCudaCommon PUBLIC "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include itkVoxelMapsCompatibility.h>")
  endif()
endif()
