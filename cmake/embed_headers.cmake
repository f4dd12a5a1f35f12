# cmake -DROOT= -DHEADERS= -DOUTPUT= [-DAS_IT_IS=ON] -P: writes HEADERS (paths from ROOT) into OUTPUT, for each a line with its
# path, a line with its size, and its text without lines that are remarks; AS_IT_IS makes a packed file of it (retrace/device/cuda/packed.h), not a smaller one.

set(all "")
foreach(path IN LISTS HEADERS)
  file(READ "${ROOT}/${path}" text)
  string(REGEX REPLACE "\n[ ]*//[^\n]*" "" text "${text}")  # remarks
  string(LENGTH "${text}" size)
  string(APPEND all "${path}\n${size}\n${text}")
endforeach()
if(AS_IT_IS)
  string(PREPEND all "0")
endif()
file(WRITE "${OUTPUT}" "${all}")
