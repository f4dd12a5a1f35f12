#pragma once
// Windows that part an axis into nearly equal lengths, for the CPU's and for CUDA kernels.

#include "retrace/device/cuda/global.h"

namespace retrace {

// first .. end-1.
template <class Int>
struct AdaptiveRange {
  Int first, end;
};

// The elements of window i where `size` elements make `count` windows. It is as well the windows that hold element i
// where `count` elements make `size` windows.
RT_BOTH AdaptiveRange<unsigned> adaptive_window(unsigned i, unsigned size, unsigned count) {
  const unsigned long long from = static_cast<unsigned long long>(i) * size;
  return {static_cast<unsigned>(from / count), static_cast<unsigned>((from + size + (count - 1)) / count)};
}

// The windows that hold an element, in the order in which their shares are added: by their kinds (the rest by `kinds`,
// docs/numerics/gradients.md 5), so from `turn`, a multiple of `kinds`, to the end, and then those before it.
template <class Int>
struct AdaptiveCover {
  Int first, turn, end;

  RT_BOTH Int count() const { return end - first; }
  // The k-th of them.
  RT_BOTH Int window(Int k) const { return turn + k < end ? turn + k : turn + k - count(); }
};

// From the windows that hold an element.
template <class Int>
RT_BOTH AdaptiveCover<Int> adaptive_cover(AdaptiveRange<Int> windows, Int kinds) {
  const Int turn = (windows.first + kinds - 1) / kinds * kinds;
  return {windows.first, turn < windows.end ? turn : windows.end, windows.end};
}

}  // namespace retrace
