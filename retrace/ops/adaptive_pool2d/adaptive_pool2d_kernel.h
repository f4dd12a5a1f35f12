#pragma once
// The kernels of adaptive pooling along one axis: rows of `inner` neighbouring elements.

#include <algorithm>
#include <numeric>
#include <vector>

#include "retrace/ops/adaptive_pool2d/adaptive_window.h"
#include "retrace/ops/pool/pooling.h"

namespace retrace {

// An array [outer, size, inner] that becomes [outer, windows, inner].
struct AdaptiveShape {
  int64_t outer = 0, size = 1, windows = 1, inner = 0;

  int64_t inputs() const { return outer * size * inner; }
  int64_t outputs() const { return outer * windows * inner; }
  // Windows of one kind have one length and one distance.
  int64_t kinds() const { return windows / std::gcd(size, windows); }
  // Elements of the longest windows.
  int64_t longest() const {
    const int64_t rest = size % windows / std::gcd(size, windows);
    return size / windows + std::min<int64_t>(rest, 2);
  }
};

// The elements of each window.
std::vector<AdaptiveRange<int64_t>> adaptive_windows(const AdaptiveShape& shape);
// The windows of each element.
std::vector<AdaptiveCover<int64_t>> adaptive_covers(const AdaptiveShape& shape);

// The mean of each window, in f32.
void adaptive_average_forward(const AdaptiveShape& shape, const float* x, float* y, PoolDone done);
// To `before`, or to +0 where there is none, the shares of the windows that hold an element, in the order of their
// kinds. `shares` has room for as many elements as dy.
void adaptive_average_backward(const AdaptiveShape& shape, const float* dy, const float* before, float* shares,
                               float* dx, PoolDone done);

// The greatest element of each window or its first NaN, and where it is in the window, as Index (uint8_t or int32_t).
template <class Index>
void adaptive_max_forward(const AdaptiveShape& shape, const float* x, float* y, Index* index);
// Like adaptive_average_backward; a window gives dy to the element that won.
template <class Index>
void adaptive_max_backward(const AdaptiveShape& shape, const float* dy, const Index* index, const float* before,
                           float* dx, PoolDone done);

}  // namespace retrace
