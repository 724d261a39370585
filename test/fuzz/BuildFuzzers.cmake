# Configure the preset `fuzz` of SOURCE_DIR in BUILD_DIR and build it.
include(ProcessorCount)
ProcessorCount(processors)

function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY "${SOURCE_DIR}" RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

string(REPLACE "clang++" "clang" c_compiler "${CXX_COMPILER}")
run(
  "${CMAKE_COMMAND}"
  --log-level=WARNING
  --preset fuzz
  -B "${BUILD_DIR}"
  "-DCMAKE_C_COMPILER=${c_compiler}"
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
  "-DITK_DIR=${ITK_DIR}"
)
run("${CMAKE_COMMAND}" --build "${BUILD_DIR}" --parallel "${processors}")
