# Objects compiled for one instruction set must define no symbol that the linker could pick for other processors:
# templates and inline functions of the C++ library or of this module.
#   cmake -D NM=nm -D OBJECTS=a.o,b.o -P CheckInstructionSets.cmake
string(REPLACE "," ";" objects "${OBJECTS}")
foreach(object IN LISTS objects)
  execute_process(COMMAND "${NM}" --defined-only -C "${object}" OUTPUT_VARIABLE symbols RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${NM} cannot read ${object}")
  endif()
  string(REGEX MATCHALL "[0-9a-f]+ [VWuvw] [^\n]*" shared "${symbols}")
  # Instances for vectors are of this instruction set alone: every set has its own width.
  list(FILTER shared EXCLUDE REGEX "__vector\\(")
  foreach(symbol IN LISTS shared)
    message(SEND_ERROR "${object} defines the symbol ${symbol}, which other objects may share")
  endforeach()
  if(NOT symbols MATCHES "Compute[A-Za-z]+Tile\\(")
    message(SEND_ERROR "${object} does not define a function Compute...Tile: is it the right file?")
  endif()
endforeach()
