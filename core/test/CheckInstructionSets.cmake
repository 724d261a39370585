# Objects compiled for one instruction set must define no symbol that the linker could pick for other processors:
# templates and inline functions of the C++ library or of this module.
#   cmake -D NM=nm -D LIBRARY=libVoxelMapsCoreInternals.a -P CheckInstructionSets.cmake
execute_process(
  COMMAND "${NM}" -A --defined-only -C "${LIBRARY}"
  OUTPUT_VARIABLE symbols
  RESULT_VARIABLE result
)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} cannot read ${LIBRARY}")
endif()
# Brackets would join elements of a list.
string(REGEX REPLACE "[][;]" "_" symbols "${symbols}")
string(REGEX MATCHALL "[A-Za-z]+_avx[0-9]+\\.[a-z]+\\.[a-z]+:[0-9a-f]* [A-Za-z] [^\n]*" symbols "${symbols}")
set(objects "${symbols}")
list(TRANSFORM objects REPLACE ":.*" "")
list(REMOVE_DUPLICATES objects)
list(LENGTH objects count)
if(count EQUAL 0)
  message(FATAL_ERROR "${LIBRARY} has no objects *_avx2 and *_avx512: is it the right file?")
endif()
foreach(object IN LISTS objects)
  set(own "${symbols}")
  list(FILTER own INCLUDE REGEX "^${object}:")
  set(shared "${own}")
  list(FILTER shared INCLUDE REGEX ":[0-9a-f]* [VWuvw] ")
  # Instances for vectors are of this instruction set alone: every set has its own width.
  list(FILTER shared EXCLUDE REGEX "__vector\\(")
  foreach(symbol IN LISTS shared)
    message(SEND_ERROR "${object} defines the symbol ${symbol}, which other objects may share")
  endforeach()
  if(NOT own MATCHES "voxelmaps::(avx2|avx512)::[A-Za-z]+\\(")
    message(SEND_ERROR "${object} does not define a function for an instruction set: is it the right file?")
  endif()
endforeach()
message(STATUS "${count} objects for one instruction set share no symbols")
