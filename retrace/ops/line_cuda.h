#pragma once
// How the threads of a line hold it, in kernels that are generated of ops which go line by line (CudaLine of
// retrace/trace/op.h). A line has up to kMostLineFeatures elements along the last axis. Element p of a block of 256,
// the contract's block of a row sum (docs/numerics.md 3), is number p / 16 of the thread p % 16 of that block; of a
// line that is shorter than 16 elements there are only as many threads as a power of two asks for, since the others
// would add zeros.

#include "retrace/base/scalar.h"
#include "retrace/device/cuda/kernel.h"

namespace retrace::cuda {

constexpr int kMostLineFeatures = 512;  // two blocks: the threads of a line are within a warp

template <int features>
struct LineLanes {
  static_assert(features >= 1 && features <= kMostLineFeatures);
  static constexpr int threads = features > 256 ? 32
                                 : features > 8 ? 16
                                 : features > 4 ? 8
                                 : features > 2 ? 4
                                                : features;
  static constexpr int each = features >= 256 ? 16 : (features + 15) / 16;  // elements of a thread, at most
  using Values = float[each];

  // The place of element j of this thread in the line, and whether the line has it.
  static RT_DEVICE int lane() { return static_cast<int>(thread().x) % threads; }
  static RT_DEVICE int place(int j) { return lane() / 16 * 256 + j * 16 + lane() % 16; }
  static RT_DEVICE bool has(int j) { return place(j) < features; }

  // The sum of this thread's elements, and of the lanes of a block, in each of them.
  static RT_DEVICE float own_sum(const Values& values) {
    float total = 0.0f;
    RT_UNROLL
    for (int j = 0; j < each; ++j)
      if (has(j)) total = total + values[j];
    return total;
  }
  static RT_DEVICE float fold(float value) {
    for (unsigned distance = threads > 8 ? 8 : threads / 2; distance > 0; distance /= 2)
      value = value + shuffle_xor(value, distance);
    return value;
  }
  // The sum of a line in the order of a row sum, and its largest element but NaN, in all of its threads. All threads of
  // the warp come.
  static RT_DEVICE float sum(const Values& values) {
    float total = own_sum(values);
    if constexpr (threads == 32) total = total + shuffle_xor(total, 16);
    return fold(total);
  }
  static RT_DEVICE float largest(const Values& values) {
    float most = -rules::infinity<float>();
    RT_UNROLL
    for (int j = 0; j < each; ++j)
      if (has(j)) most = values[j] > most ? values[j] : most;
    for (unsigned distance = threads / 2; distance > 0; distance /= 2) {
      const float other = shuffle_xor(most, distance);
      most = other > most ? other : most;
    }
    return most;
  }
};

// Of Op::cuda_line of a sum.
template <int features>
RT_DEVICE void sum_line(const typename LineLanes<features>::Values& x, float& y) {
  y = LineLanes<features>::sum(x);
}

}  // namespace retrace::cuda
