#pragma once
// Kernels that the running program has written, through the host compiler.

#include <string>

#include "retrace/device/cuda/kernel.h"

namespace retrace::cuda::emulation {

// The list of the source's kernels. Compiled once a process, kept as a library where RETRACE_KERNEL_CACHE says
// (retrace in the user's cache folder), under a hash of the source, of the headers it includes and of the compiler.
// Error(internal) with the compiler's words if it does not compile; Error(unavailable) without a compiler;
// Error(output) if the folder cannot be written.
const EmulatedKernel* compile_kernels(const std::string& source);

}  // namespace retrace::cuda::emulation
