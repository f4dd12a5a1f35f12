#pragma once
// Where an axis of a resized image comes from, for the CPU's and for CUDA kernels.

#include "retrace/device/cuda/fast_divide.h"

namespace retrace {

constexpr int kMostResized = 32'768;  // pixels of an axis: places are fractions of 32-bit numbers

// An output is (1 - weight) * x[low] + weight * x[low + 1]; x[low] alone where the weight is 0.
template <class T>
struct ResizeSource {
  int low;
  T weight;

  // The weight of element i, which is low or low + 1.
  RT_BOTH T of(int i) const { return i == low ? T(1) - weight : weight; }
};

// Outputs first .. end-1.
struct ResizeRange {
  int first, end;
};

// An axis of `in` elements that becomes one of `out`: output o lies at the fraction (o * step + offset) / parts of the
// input, from 0 to in - 1.
struct ResizeAxis {
  int in, out, step, offset;
  cuda::Divisor parts, by_step;
  int nearest;  // the whole part of the fraction alone

  template <class T>
  RT_BOTH ResizeSource<T> source(int o) const {
    const int place = o * step + offset;
    if (place <= 0) return {0, T(0)};
    const auto [low, rest] = parts.split(static_cast<unsigned>(place));
    const int i = static_cast<int>(low);
    if (i >= in - 1) return {in - 1, T(0)};
    if (nearest) return {i, T(0)};
    return {i, static_cast<T>(static_cast<int>(rest)) / static_cast<T>(static_cast<int>(parts.divisor))};
  }
  // The outputs that element i may be in.
  RT_BOTH ResizeRange outputs(int i) const {
    return {reached(nearest ? i : i - 1), i + 1 >= in ? out : reached(i + 1)};
  }

 private:
  // The first output whose `low` is i or more.
  RT_BOTH int reached(int i) const {
    const long long gap = static_cast<long long>(i) * parts.divisor - offset;
    if (i <= 0 || gap <= 0) return 0;
    const unsigned first = by_step.divide(static_cast<unsigned>(gap) + by_step.divisor - 1);
    return first < static_cast<unsigned>(out) ? static_cast<int>(first) : out;
  }
};

}  // namespace retrace
