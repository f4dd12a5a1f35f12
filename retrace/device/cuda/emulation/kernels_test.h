#pragma once
// The argument of the kernels in kernels_test.cu.

#include "retrace/device/cuda/global.h"

namespace retrace::cuda {

struct ProbeArguments {
  Global<const float> x;
  Global<float> y;
  Global<unsigned> counter;
  int count;
  bool mistake;  // the one that each kernel can make
};

}  // namespace retrace::cuda
