# What the tests of the core and those of the filters share. Included by each, since imported targets belong to a folder.
if(NOT TARGET GTest::gtest AND NOT TARGET GTest::GTest)
  find_package(GTest REQUIRED)
endif()
if(NOT TARGET GTest::gtest)
  # ITK 5 and CMake before 3.20 have this name only.
  add_library(GTest::gtest INTERFACE IMPORTED)
  set_target_properties(GTest::gtest PROPERTIES INTERFACE_LINK_LIBRARIES GTest::GTest)
endif()
if(VoxelMaps_USE_CUDA AND NOT TARGET CUDA::cudart_static)
  find_package(CUDAToolkit REQUIRED)
endif()
include(GoogleTest)

# voxelmaps_add_tests(NAME SOURCES source... [SERIAL test...]): a program of tests. CTest runs its tests of the CPU one by
# one, those named after SERIAL alone, since they measure time; and the same program for CUDA as one test Cuda.NAME.
function(voxelmaps_add_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SERIAL")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE VoxelMapsTestCases)
  target_compile_options(${name} PRIVATE ${VoxelMaps_WARNING_OPTIONS})
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    # Engines and oracles are libraries; optimizing the tests takes longer than it saves.
    target_compile_options(${name} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:-O1>")
  endif()
  # Against an ITK build tree, the default would be a folder of that tree.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  if(MSVC)
    # So many templates have more sections than an object file may have otherwise.
    target_compile_options(${name} PRIVATE /bigobj)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
  if(arg_SERIAL)
    # CTest reads this file after that of the discovered tests.
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${name}_serial.cmake")
    list(JOIN arg_SERIAL "\n  " tests)
    file(GENERATE OUTPUT "${file}" CONTENT "set_tests_properties(\n  ${tests}\n  PROPERTIES RUN_SERIAL ON)\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
  endif()
  if(VoxelMaps_USE_CUDA)
    # One process for all tests: where there is no device, it says so and skips them.
    add_test(NAME Cuda.${name} COMMAND ${name})
    set_tests_properties(
      Cuda.${name}
      PROPERTIES
        ENVIRONMENT VOXELMAPS_TEST_PROCESSOR=Cuda
        RUN_SERIAL ON
        SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\] all tests: "
        TIMEOUT 3600
    )
  endif()
endfunction()
