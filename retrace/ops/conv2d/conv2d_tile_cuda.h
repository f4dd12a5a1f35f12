#pragma once
// A thread's 4 x 2 sums of a tile of the convolution and its input gradient.

#include "retrace/ops/contraction_cuda.h"
#include "retrace/ops/conv2d/conv2d_cuda.h"

namespace retrace::cuda {

RT_DEVICE int thread_number() { return static_cast<int>(thread().x); }
RT_DEVICE int smaller(int a, int b) { return a < b ? a : b; }
RT_DEVICE int larger(int a, int b) { return a < b ? b : a; }

RT_DEVICE bool is_finite(float x) { return x - x == 0.0f; }

// First row and column of this thread's sums.
template <int rows>
RT_DEVICE int first_row() {
  return thread_number() % (rows / 4) * 4;
}
template <int rows>
RT_DEVICE int first_column() {
  return thread_number() / (rows / 4) * 2;
}

// sums[2 i + j] takes the term of row i and column j of this thread, where present(i).
template <int rows, int columns, class Present>
RT_DEVICE void add_term(Shared<float> left, Shared<float> right, int term, float (&sums)[8], Present present) {
  const Float4 a = load4(left, term * rows + first_row<rows>());
  const float as[4] = {a.x, a.y, a.z, a.w};
  const int column = term * columns + first_column<rows>();
  const float bs[2] = {right[column], right[column + 1]};
  RT_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (!present(i)) continue;
    RT_UNROLL
    for (int j = 0; j < 2; ++j) sums[2 * i + j] = rules::fma(as[i], bs[j], sums[2 * i + j]);
  }
}

// The terms begin..end-1, all of them present. Four at a time, so that loads run ahead.
template <int rows, int columns>
RT_DEVICE void add_terms(Shared<float> left, Shared<float> right, int begin, int end, float (&sums)[8]) {
  const auto always = [](int) { return true; };
  int term = begin;
  for (; term + 4 <= end; term += 4) {
    RT_UNROLL
    for (int i = 0; i < 4; ++i) add_term<rows, columns>(left, right, term + i, sums, always);
  }
  for (; term < end; ++term) add_term<rows, columns>(left, right, term, sums, always);
}

}  // namespace retrace::cuda
