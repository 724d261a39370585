# The tests of the fuzz targets: in the build of the targets, and in the normal build, where a test makes that build.
set(VoxelMaps_FUZZ_TARGETS FeatureMapsJob FuzzyConnectednessJob GrayLevelDiscretization RelativeFuzzyConnectednessJob)
set(VoxelMaps_FUZZ_DIR "${CMAKE_CURRENT_LIST_DIR}")

# Run the programs of this folder, each over its stored corpus and then for 20 seconds.
function(voxelmaps_add_fuzz_tests program_dir)
  foreach(target IN LISTS VoxelMaps_FUZZ_TARGETS)
    add_test(
      NAME Fuzz.${target}
      COMMAND
        ${CMAKE_COMMAND} #
        -D "PROGRAM=${program_dir}/${target}Fuzzer" #
        -D "CORPUS=${VoxelMaps_FUZZ_DIR}/corpus/${target}" #
        -D "WORK_DIR=${CMAKE_CURRENT_BINARY_DIR}/fuzz-${target}" #
        -P "${VoxelMaps_FUZZ_DIR}/RunFuzzer.cmake"
    )
    set_tests_properties(Fuzz.${target} PROPERTIES TIMEOUT 300 FIXTURES_REQUIRED VoxelMapsFuzzers)
  endforeach()
endfunction()

# Build the targets in a test, with Clang, and run them.
function(voxelmaps_add_fuzz_build)
  set(reason)
  find_program(
    VoxelMaps_CLANG
    NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14
  )
  mark_as_advanced(VoxelMaps_CLANG)
  if(CMAKE_VERSION VERSION_LESS 3.21)
    set(reason "CMake ${CMAKE_VERSION} cannot read presets")
  elseif(NOT VoxelMaps_CLANG)
    set(reason "there is no clang++ (Debian: clang)")
  else()
    set(probe "${CMAKE_CURRENT_BINARY_DIR}/libFuzzer")
    file(
      WRITE
      "${probe}.cxx"
      "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }\n"
    )
    execute_process(
      COMMAND "${VoxelMaps_CLANG}" -fsanitize=fuzzer,address,undefined "${probe}.cxx" -o "${probe}"
      RESULT_VARIABLE result
      OUTPUT_QUIET
      ERROR_QUIET
    )
    if(NOT result EQUAL 0)
      set(reason "${VoxelMaps_CLANG} has no libFuzzer (Debian: libclang-rt-14-dev)")
    endif()
  endif()
  if(reason)
    # In these brackets, CTest looks for what was skipped.
    add_test(NAME Fuzz COMMAND ${CMAKE_COMMAND} -E echo "[  SKIPPED ] no fuzz targets: ${reason}")
    set_tests_properties(Fuzz PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
    return()
  endif()
  get_filename_component(source_dir "${VoxelMaps_FUZZ_DIR}/../.." ABSOLUTE)
  set(build_dir "${CMAKE_CURRENT_BINARY_DIR}/fuzz-build")
  add_test(
    NAME Fuzz.Build
    COMMAND
      ${CMAKE_COMMAND} #
      -D "SOURCE_DIR=${source_dir}" #
      -D "BUILD_DIR=${build_dir}" #
      -D "CXX_COMPILER=${VoxelMaps_CLANG}" #
      -D "ITK_DIR=${ITK_DIR}" #
      -P "${VoxelMaps_FUZZ_DIR}/BuildFuzzers.cmake"
  )
  set_tests_properties(Fuzz.Build PROPERTIES TIMEOUT 1800 FIXTURES_SETUP VoxelMapsFuzzers)
  voxelmaps_add_fuzz_tests("${build_dir}/test/fuzz")
endfunction()
