# Install the build tree BUILD_DIR, then configure, build and run the project in CONSUMER_SOURCE_DIR against it.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

# A prefix from an earlier run could hide a file that is no longer installed.
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${WORK_DIR}/prefix")
run(
  "${CMAKE_COMMAND}"
  -S "${CONSUMER_SOURCE_DIR}"
  -B "${WORK_DIR}/build"
  -G "${GENERATOR}"
  "-DCMAKE_BUILD_TYPE=${CONFIG}"
  "-DCMAKE_C_COMPILER=${C_COMPILER}"
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
  "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix"
  "-DITK_DIR=${ITK_DIR}"
)
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build" --config "${CONFIG}")

find_program(consumer NAMES Consumer PATHS "${WORK_DIR}/build" "${WORK_DIR}/build/${CONFIG}" NO_DEFAULT_PATH)
run("${consumer}")
