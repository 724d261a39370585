# Run the fuzz target PROGRAM over the inputs in CORPUS, and then for 20 seconds over new ones. What it finds goes to
# WORK_DIR: inputs with new coverage, and one that fails as failed-*.
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}/found")
execute_process(
  COMMAND
    "${PROGRAM}" -max_total_time=20 -seed=1 -len_control=0 -max_len=400 -timeout=20 -rss_limit_mb=4096
    -malloc_limit_mb=1024 "-artifact_prefix=${WORK_DIR}/failed-" "${WORK_DIR}/found" "${CORPUS}"
  RESULT_VARIABLE result
)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} failed (${result}); the input is in ${WORK_DIR}")
endif()
