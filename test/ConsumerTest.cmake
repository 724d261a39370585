# Install the build trees CORE_BUILD_DIR and BUILD_DIR; then configure, build and run projects that use them: one of the core alone,
# one of the filters, the same with the build trees and with the source tree, and the one that doc/cpp.md shows, with the
# program SNIPPET.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

# Configure and build a project that finds packages in the prefix, with further definitions; returns the path of a program in
# `program`.
function(build_project source_dir build_dir name program)
  run(
    "${CMAKE_COMMAND}"
    -S "${source_dir}"
    -B "${build_dir}"
    -G "${GENERATOR}"
    "-DCMAKE_BUILD_TYPE=${CONFIG}"
    "-DCMAKE_C_COMPILER=${C_COMPILER}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DITK_DIR=${ITK_DIR}"
    ${ARGN}
  )
  run("${CMAKE_COMMAND}" --build "${build_dir}" --config "${CONFIG}")
  unset(${name}_PROGRAM CACHE)
  find_program(${name}_PROGRAM NAMES ${name} PATHS "${build_dir}" "${build_dir}/${CONFIG}" NO_DEFAULT_PATH)
  set(${program} "${${name}_PROGRAM}" PARENT_SCOPE)
endfunction()

set(prefix "${WORK_DIR}/prefix")
# A prefix from an earlier run could hide a file that is no longer installed.
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")

# The core alone, before anything of ITK is in the prefix.
run("${CMAKE_COMMAND}" --install "${CORE_BUILD_DIR}" --config "${CONFIG}" --prefix "${WORK_DIR}/prefix")
build_project("${CONSUMER_SOURCE_DIR}/../core-consumer" "${WORK_DIR}/core-build" CoreConsumer core_consumer)
run("${core_consumer}")

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${WORK_DIR}/prefix")
# The components of the installation are all of it.
foreach(component IN ITEMS Runtime Development)
  foreach(tree IN ITEMS "${CORE_BUILD_DIR}" "${BUILD_DIR}")
    run(
      "${CMAKE_COMMAND}"
      --install
      "${tree}"
      --config
      "${CONFIG}"
      --prefix
      "${WORK_DIR}/components"
      --component
      ${component}
    )
  endforeach()
endforeach()
file(GLOB_RECURSE all_files RELATIVE "${prefix}" "${prefix}/*")
file(GLOB_RECURSE files_of_components RELATIVE "${WORK_DIR}/components" "${WORK_DIR}/components/*")
if(NOT "${all_files}" STREQUAL "${files_of_components}")
  message(FATAL_ERROR "the components have ${files_of_components}, but the installation has ${all_files}")
endif()
build_project("${CONSUMER_SOURCE_DIR}" "${WORK_DIR}/build" Consumer consumer)
run("${consumer}")

# The build trees.
set(prefix "${BUILD_DIR}")
build_project(
  "${CONSUMER_SOURCE_DIR}"
  "${WORK_DIR}/tree-build"
  Consumer
  tree_consumer
  "-DVoxelMapsCore_DIR=${CORE_BUILD_DIR}"
)
run("${tree_consumer}")
set(prefix "${WORK_DIR}/prefix")

# The source tree, as doc/cpp.md adds it to a project that has tests. The core is not compiled again.
file(READ "${GUIDE}" guide)
if(NOT guide MATCHES "```cmake\n(include.FetchContent[^`]*)```")
  message(FATAL_ERROR "${GUIDE} shows no FetchContent")
endif()
file(
  WRITE
  "${WORK_DIR}/fetch/CMakeLists.txt"
  "cmake_minimum_required(VERSION 3.16)\nproject(Fetch LANGUAGES C CXX)\ninclude(CTest)\n${CMAKE_MATCH_1}"
  "if(TARGET VoxelMapsTests OR TARGET VoxelMapsCoreTests)\n  message(FATAL_ERROR \"has tests\")\nendif()\n"
)
configure_file("${CONSUMER_SOURCE_DIR}/main.cxx" "${WORK_DIR}/fetch/Maps.cxx" COPYONLY)
build_project(
  "${WORK_DIR}/fetch"
  "${WORK_DIR}/fetch-build"
  Maps
  fetched
  "-DFETCHCONTENT_SOURCE_DIR_VOXELMAPS=${CONSUMER_SOURCE_DIR}/../.."
  "-DVoxelMapsCore_DIR=${CORE_BUILD_DIR}"
)
run("${fetched}")

# The project of doc/cpp.md, which reads and writes images.
if(NOT guide MATCHES "```cmake\n(cmake_minimum_required[^`]*)```")
  message(FATAL_ERROR "${GUIDE} shows no CMakeLists.txt")
endif()
file(WRITE "${WORK_DIR}/guide/CMakeLists.txt" "${CMAKE_MATCH_1}")
configure_file("${SNIPPET}" "${WORK_DIR}/guide/Maps.cxx" COPYONLY)
build_project("${WORK_DIR}/guide" "${WORK_DIR}/guide-build" Maps maps)
file(
  WRITE
  "${WORK_DIR}/image.nrrd"
  "NRRD0004\ntype: uchar\ndimension: 3\nspace: left-posterior-superior\nsizes: 3 2 2\n"
  "space directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (0,0,0)\nkinds: domain domain domain\nencoding: ascii\n\n"
  "1 2 3 4 5 6 7 8 9 10 11 12\n"
)
run("${maps}" "${WORK_DIR}/image.nrrd" "${WORK_DIR}/maps.nrrd")
if(NOT EXISTS "${WORK_DIR}/maps.nrrd")
  message(FATAL_ERROR "${maps} has not written ${WORK_DIR}/maps.nrrd")
endif()
