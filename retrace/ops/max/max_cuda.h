#pragma once
// Arguments of the kernels of max.cu, beside ReduceArguments.

#include "retrace/device/cuda/global.h"

namespace retrace::cuda {

struct ClearMaskArguments {
  Global<unsigned char> mask;
  long long count;
};

}  // namespace retrace::cuda
