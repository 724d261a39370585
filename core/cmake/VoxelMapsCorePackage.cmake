# Install the core, and make its build tree and its installation findable: find_package(VoxelMapsCore).
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/VoxelMapsCore)
set(header_dir ${CMAKE_INSTALL_INCLUDEDIR}/VoxelMaps)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/VoxelMapsCoreConfig.cmake.in
  ${PROJECT_BINARY_DIR}/VoxelMapsCoreConfig.cmake
  INSTALL_DESTINATION ${package_dir}
)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/VoxelMapsCoreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# In ITK's module builds, ITK exports the library and installs what belongs to it.
if(VoxelMapsCore_IN_ITK_MODULE)
  return()
endif()
# Other builds on this machine use this build tree, so that nothing is compiled twice.
export(
  TARGETS VoxelMapsCore VoxelMapsCoreInternals
  NAMESPACE VoxelMaps::
  FILE ${PROJECT_BINARY_DIR}/VoxelMapsCoreTargets.cmake
)
if(NOT VoxelMaps_INSTALL)
  return()
endif()
install(
  TARGETS VoxelMapsCore
  EXPORT VoxelMapsCoreTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime NAMELINK_COMPONENT Development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Runtime
  INCLUDES DESTINATION ${header_dir}
)
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${PROJECT_BINARY_DIR}/include/
  DESTINATION ${header_dir}
  COMPONENT Development
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "*.def"
)
install(EXPORT VoxelMapsCoreTargets NAMESPACE VoxelMaps:: DESTINATION ${package_dir} COMPONENT Development)
install(
  FILES ${PROJECT_BINARY_DIR}/VoxelMapsCoreConfig.cmake ${PROJECT_BINARY_DIR}/VoxelMapsCoreConfigVersion.cmake
  DESTINATION ${package_dir}
  COMPONENT Development
)
