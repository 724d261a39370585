# Options of all code in a build of the fuzz targets.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "VoxelMaps_BUILD_FUZZERS needs Clang, but the compiler is ${CMAKE_CXX_COMPILER_ID}.")
endif()
add_compile_options(
  -fsanitize=fuzzer-no-link #
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include \"${CMAKE_CURRENT_LIST_DIR}/ItkWithClang.h\">"
)
