#pragma once
// Arguments of the kernels of exchanges.

#include "retrace/device/cuda/global.h"

namespace retrace {

// Copies of some places at once: T is the unit.
template <class T>
struct CopyPartsArguments {
  static constexpr int kMost = 120;
  struct Part {
    cuda::Global<const T> from;
    cuda::Global<T> to;
    unsigned long long count;
  };
  Part parts[kMost];  // of block row y
};

// runs[left] += runs[right] for each step, then sum = runs[0]: `count` elements each.
template <class T>
struct AddRunsArguments {
  static constexpr int kMost = 800;
  cuda::Global<T> runs, sum;
  unsigned long long count;
  int steps;
  unsigned short left[kMost], right[kMost];
};

}  // namespace retrace
