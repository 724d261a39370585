# Package path: build, install and export the library for find_package(VoxelMaps), against an installed ITK.
include(GNUInstallDirs)
include(GenerateExportHeader)
include(CMakePackageConfigHelpers)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Only ITKCommon is needed by the library; tests and examples ask for more themselves.
find_package(ITK 5.2 REQUIRED COMPONENTS ITKCommon)

add_subdirectory(src)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/VoxelMaps)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/VoxelMapsConfig.cmake.in
  ${PROJECT_BINARY_DIR}/VoxelMapsConfig.cmake
  INSTALL_DESTINATION ${package_dir}
)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/VoxelMapsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# The build tree is found as an installation is.
export(TARGETS VoxelMaps NAMESPACE VoxelMaps:: FILE ${PROJECT_BINARY_DIR}/VoxelMapsTargets.cmake)

if(VoxelMaps_INSTALL)
  install(
    TARGETS VoxelMaps
    EXPORT VoxelMapsTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime NAMELINK_COMPONENT Development
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Runtime
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/VoxelMaps
  )
  install(
    DIRECTORY ${PROJECT_SOURCE_DIR}/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/VoxelMaps
    COMPONENT Development
    FILES_MATCHING
    PATTERN "*.h"
    PATTERN "*.hxx"
  )
  install(
    FILES ${PROJECT_BINARY_DIR}/include/VoxelMapsExport.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/VoxelMaps
    COMPONENT Development
  )
  install(EXPORT VoxelMapsTargets NAMESPACE VoxelMaps:: DESTINATION ${package_dir} COMPONENT Development)
  install(
    FILES ${PROJECT_BINARY_DIR}/VoxelMapsConfig.cmake ${PROJECT_BINARY_DIR}/VoxelMapsConfigVersion.cmake
    DESTINATION ${package_dir}
    COMPONENT Development
  )
endif()

if(BUILD_TESTING)
  add_subdirectory(test)
endif()
