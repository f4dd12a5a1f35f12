# cmake -DCOMPILER= -DINCLUDES= -DSOURCE= -DOUTPUT= -P: writes the names of the kernels of a .cu file into OUTPUT, as a C++
# string with a space behind each: what the macros of retrace/device/cuda/kernel.h make of it for the host.
execute_process(COMMAND "${COMPILER}" -std=c++20 -E -P -DRETRACE_CUDA_EMULATION ${INCLUDES} -x c++ "${SOURCE}"
                OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "EmulatedKernel [A-Za-z0-9_]+_emulated" found "${text}")
set(names "")
foreach(one IN LISTS found)
  string(REGEX REPLACE "^EmulatedKernel (.*)_emulated$" "\\1 " one "${one}")
  string(APPEND names "${one}")
endforeach()
file(WRITE "${OUTPUT}" "\"${names}\"\n")
