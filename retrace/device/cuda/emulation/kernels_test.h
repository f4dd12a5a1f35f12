#pragma once
// Arguments of the kernels in kernels_test.cu.

#include "retrace/device/cuda/kernel_errors.h"

namespace retrace::cuda {

struct ProbeArguments {
  Global<const float> x;
  Global<float> y;
  Global<unsigned> counter;
  int count;
  bool mistake;  // the one that each kernel can make
};

struct ReportArguments {
  Global<const int> x;
  unsigned count;
  ErrorTarget errors;
};

}  // namespace retrace::cuda
