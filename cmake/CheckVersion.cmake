# Files that state the version again must state the one of project() in CMakeLists.txt:
#   -D SOURCE_DIR=... -D VERSION=...
function(check_version file pattern)
  file(READ "${SOURCE_DIR}/${file}" content)
  # The first match only: the change log also lists older versions.
  if(NOT "\n${content}" MATCHES "${pattern}")
    message(SEND_ERROR "${file} states no version; expected ${VERSION}")
  elseif(NOT CMAKE_MATCH_1 STREQUAL VERSION)
    message(SEND_ERROR "${file} states version ${CMAKE_MATCH_1}; CMakeLists.txt states ${VERSION}")
  endif()
endfunction()

check_version(CITATION.cff "\nversion: \"?([0-9.]+)")
check_version(CHANGELOG.md "\n## ([0-9.]+)")

# pyproject.toml reads the version from CMakeLists.txt; its pattern, in Python's syntax, must still match there.
file(READ "${SOURCE_DIR}/CMakeLists.txt" content)
string(FIND "${content}" "project(VoxelMaps VERSION ${VERSION}" found)
if(found EQUAL -1)
  message(SEND_ERROR "pyproject.toml looks for \"project(VoxelMaps VERSION\", which CMakeLists.txt does not have")
endif()
