# Files that state the version again must state the one of project() in CMakeLists.txt: -D SOURCE_DIR=...

# pyproject.toml reads the version from there as well, with this pattern in Python's syntax.
file(READ "${SOURCE_DIR}/CMakeLists.txt" content)
if(NOT content MATCHES "project\\(VoxelMaps VERSION ([0-9.]+)")
  message(FATAL_ERROR "CMakeLists.txt has no \"project(VoxelMaps VERSION\", which pyproject.toml looks for, too")
endif()
set(VERSION "${CMAKE_MATCH_1}")

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
check_version(packaging/conda/recipe.yaml "\n  version: \"([0-9.]+)")
check_version(packaging/debian/changelog "\nvoxelmaps \\(([0-9.]+)-")
check_version(core/CMakeLists.txt "\nproject\\(VoxelMapsCore VERSION ([0-9.]+)")
check_version(wrapping/pyproject.toml "\nversion = \"([0-9.]+)")
check_version(wrapping/pyproject.toml "voxelmaps==([0-9.]+)")
