# cmake -DFOLDER=... [-DEXIT=n] [-DOUT=regex] [-DERR=regex] -P RunExample.cmake -- COMMAND ARGUMENTS...
# Run a command in an empty folder. Its exit code must be EXIT (default 0), and its output must match OUT and ERR. Standard
# error must be empty on success, and one line on failure.
set(command)
set(seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 1 ${last})
  if(seen)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(seen TRUE)
  endif()
endforeach()

if(NOT DEFINED EXIT)
  set(EXIT 0)
endif()
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
execute_process(
  COMMAND ${command}
  WORKING_DIRECTORY "${FOLDER}"
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE error
)
message("${output}${error}")

if(NOT result STREQUAL EXIT)
  message(FATAL_ERROR "The exit code is ${result}, not ${EXIT}.")
endif()
if(DEFINED OUT AND NOT output MATCHES "${OUT}")
  message(FATAL_ERROR "The output does not match '${OUT}'.")
endif()
if(DEFINED ERR AND NOT error MATCHES "${ERR}")
  message(FATAL_ERROR "The error output does not match '${ERR}'.")
endif()
if(EXIT EQUAL 0 AND NOT error STREQUAL "")
  message(FATAL_ERROR "There is error output.")
endif()
if(NOT EXIT EQUAL 0)
  if(NOT error MATCHES "^[^\n]+\n$")
    message(FATAL_ERROR "The error output is not one line.")
  endif()
endif()
