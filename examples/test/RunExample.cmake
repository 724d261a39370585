# cmake -DFOLDER=... [-DEXIT=n] [-DOUT=regex] [-DERR=regex] -P RunExample.cmake -- COMMAND ARGUMENTS...
# Run a command in a fresh folder. It must end with the exit code EXIT (0), and print what matches OUT and ERR. On success
# standard error must be empty, on failure it must be one line.
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
