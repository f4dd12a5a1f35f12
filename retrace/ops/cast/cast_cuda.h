#pragma once
// Arguments of the kernels cast_FROM_TO, from or to f64: chains make the other conversions.

#include "retrace/device/cuda/global.h"

namespace retrace {

template <class From, class To>
struct CastArguments {
  cuda::Global<const From> x;
  cuda::Global<To> y;
  unsigned count;
};

}  // namespace retrace
