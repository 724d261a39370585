# Write VoxelMaps.remote.cmake, by which ITK's build fetches this module:  cmake -P packaging/write-remote-module.cmake
set(REPOSITORY "") # such as https://github.com/OWNER/VoxelMaps.git
set(CONTACT "") # name and address of a maintainer

if(NOT REPOSITORY OR NOT CONTACT)
  message(FATAL_ERROR "REPOSITORY is '${REPOSITORY}' and CONTACT '${CONTACT}': set both in ${CMAKE_CURRENT_LIST_FILE}")
endif()
execute_process(
  COMMAND git rev-parse HEAD
  WORKING_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}"
  OUTPUT_VARIABLE COMMIT
  OUTPUT_STRIP_TRAILING_WHITESPACE
)
configure_file("${CMAKE_CURRENT_LIST_DIR}/VoxelMaps.remote.cmake.in" "${CMAKE_BINARY_DIR}/VoxelMaps.remote.cmake" @ONLY)
