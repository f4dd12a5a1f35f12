#pragma once
// What an op may state about itself for planning, which knows no op by name. Every statement holds bit for bit.

namespace retrace {

struct Op;

// The result is input `input` if both have one spec, and if input `by`, where there is such a condition, is the
// constant `number` in all its elements.
struct SameValue {
  int input;
  int by = -1;
  double number = 0;
};

// A rule that kernels can compute beside their own work, on inputs a, b, c.
enum class Formula {
  other,
  addition,       // a + b
  positive_part,  // 0 > a ? 0 : a
  greater,        // a > b
  choice,         // a ? b : c
};

// y[i][j] = sum over k of a[i][k] * b[k][j], of two arrays of rank 2. A transposed operand has its axes swapped.
struct MatrixProduct {
  bool transpose_a, transpose_b;
};

// A collective whose tensors can travel together with those of others, while other kernels run.
//   start(partials..., token of the start before)   begins; returns a token
//   finish(token, first partial of each tensor...)  waits, and returns the tensors
// Both have the collective's attributes and `sums`, the number of tensors that are added, which come before the others;
// start has `after`, the number of tokens among its inputs.
struct Exchange {
  bool adds;  // or only gathers
  const Op& (*start)();
  const Op& (*finish)();
};

}  // namespace retrace
