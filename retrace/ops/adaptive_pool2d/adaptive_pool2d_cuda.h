#pragma once
// Arguments of the kernels of adaptive pooling.

#include "retrace/device/cuda/fast_divide.h"
#include "retrace/ops/adaptive_pool2d/adaptive_window.h"

namespace retrace {

struct CudaCall;

// An array [outer, size, inner] that becomes [outer, windows, inner].
struct AdaptiveGrid {
  unsigned size, windows, inner, kinds;
  cuda::Divisor by_size, by_windows, by_inner;

  struct Position {
    unsigned outer, along, inner;
  };
  // Where element i of the array is, and of what it becomes.
  RT_BOTH Position place(unsigned i) const { return place_of(i, by_size); }
  RT_BOTH Position pooled_place(unsigned i) const { return place_of(i, by_windows); }
  // The number of the element at a position of the array, and of what it becomes.
  RT_BOTH unsigned element(unsigned outer, unsigned along, unsigned c) const {
    return (outer * size + along) * inner + c;
  }
  RT_BOTH unsigned pooled(unsigned outer, unsigned window, unsigned c) const {
    return (outer * windows + window) * inner + c;
  }
  RT_BOTH AdaptiveRange<unsigned> window(unsigned i) const { return adaptive_window(i, size, windows); }
  RT_BOTH AdaptiveCover<unsigned> cover(unsigned along) const {
    return adaptive_cover(adaptive_window(along, windows, size), kinds);
  }

 private:
  RT_BOTH Position place_of(unsigned i, const cuda::Divisor& by_along) const {
    const auto row = by_inner.split(i), outer = by_along.split(row.quotient);
    return {outer.quotient, outer.remainder, row.remainder};
  }
};

struct AdaptiveAverageArguments {
  cuda::Global<const float> from, before;  // `before`: what a gradient is added to, or null
  cuda::Global<float> to;
  AdaptiveGrid grid;
  unsigned count;  // elements of `to`
};

template <class Index>
struct AdaptiveMaxArguments {
  cuda::Global<const float> x;
  cuda::Global<float> y;
  cuda::Global<Index> index;
  AdaptiveGrid grid;
  unsigned count;  // elements of y
};

template <class Index>
struct AdaptiveGatherArguments {
  cuda::Global<const float> x;
  cuda::Global<const Index> index;
  cuda::Global<float> y;
  AdaptiveGrid grid;
  unsigned count;  // elements of y
};

template <class Index>
struct AdaptiveWonArguments {
  cuda::Global<const float> dy, before;
  cuda::Global<const Index> index;
  cuda::Global<float> dx;
  AdaptiveGrid grid;
  unsigned count;  // elements of dx
};

// Add the launch.
void cuda_adaptive_average_pool(const CudaCall& call);
void cuda_adaptive_average_pool_gradient(const CudaCall& call);
void cuda_adaptive_max_pool(const CudaCall& call);
void cuda_adaptive_max_pool_gather(const CudaCall& call);
void cuda_adaptive_max_pool_gradient(const CudaCall& call);

}  // namespace retrace
