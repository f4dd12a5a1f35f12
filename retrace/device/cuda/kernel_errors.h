#pragma once
// How a kernel reports a value that it cannot compute with.

#include "retrace/device/cuda/global.h"

namespace retrace::cuda {

// A part of a kernel's argument struct: filled in by the host (value_errors.h) and given to report_error() of kernel.h.
struct ErrorTarget {
  Global<unsigned long long> record;  // who has reported, 0 for nobody; the lowest position << 32 with its value
  unsigned* reported = nullptr;       // in memory of the host; not 0 where something was
  unsigned source = 0;                // who reports
};

}  // namespace retrace::cuda
