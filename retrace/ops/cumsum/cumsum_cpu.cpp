#include <algorithm>

#include "retrace/device/cpu/threads.h"
#include "retrace/ops/cumsum/cumsum_kernel.h"

namespace retrace {
namespace {

constexpr int64_t kPieceElements = 1 << 14;
constexpr int64_t kColumns = 512;  // at a time, where lines lie side by side

// Lines of `size` elements, `step` apart; `step` lines lie side by side.
struct Lines {
  explicit Lines(const KernelCall& call) : reverse(call.attributes.integer("reverse") != 0) {
    const Shape& shape = call.outputs[0].spec->shape;
    const int axis = static_cast<int>(call.attributes.integer("axis"));
    size = shape[axis], step = shape.count(axis + 1, shape.rank()), outer = shape.count(0, axis);
  }
  // Element number i in the direction of the loop.
  int64_t at(int64_t i) const { return (reverse ? size - 1 - i : i) * step; }
  int64_t size, step, outer;
  bool reverse;
};

// Calls f(first, columns): the element where `columns` lines begin that lie side by side.
template <class F>
void each_block(const Lines& lines, F f) {
  const int64_t width = std::min(lines.step, kColumns);
  if (lines.size == 0 || width == 0 || lines.outer == 0) return;
  const int64_t across = (lines.step + width - 1) / width, blocks = lines.outer * across;
  const int64_t pieces = std::clamp<int64_t>(lines.outer * lines.size * lines.step / kPieceElements, 1, blocks);
  run_pieces(pieces, [&](int64_t piece) {
    for (int64_t block = blocks * piece / pieces; block < blocks * (piece + 1) / pieces; ++block) {
      const int64_t column = block % across * width;
      f(block / across * lines.size * lines.step + column, std::min(width, lines.step - column));
    }
  });
}

// `lines` whole lines of neighbouring elements, one after another in memory: their chains of additions overlap.
template <int lines, class T, class F>
void accumulate_lines(const Lines& shape, const T* x, T* y, int64_t first, F combine) {
  T last[lines];
  for (int64_t i = 0; i < shape.size; ++i) {
    const int64_t at = first + shape.at(i);
#pragma GCC unroll 8
    for (int l = 0; l < lines; ++l) {
      const int64_t k = at + l * shape.size;
      last[l] = i == 0 ? x[k] : combine(last[l], x[k], k);
      y[k] = last[l];
    }
  }
}

template <class T, class F>
void accumulate_rows(const Lines& lines, const T* x, T* y, F combine) {
  constexpr int kAtOnce = 8;
  if (lines.size == 0) return;
  const int64_t pieces =
      std::clamp<int64_t>(lines.outer * lines.size / kPieceElements, 1, std::max<int64_t>(1, lines.outer));
  run_pieces(pieces, [&](int64_t piece) {
    int64_t line = lines.outer * piece / pieces;
    const int64_t end = lines.outer * (piece + 1) / pieces;
    for (; line + kAtOnce <= end; line += kAtOnce) accumulate_lines<kAtOnce>(lines, x, y, line * lines.size, combine);
    for (; line < end; ++line) accumulate_lines<1>(lines, x, y, line * lines.size, combine);
  });
}

// y[0] = x[0], y[i] = combine(y[i - 1], x[i], position): y may be x.
template <class T, class F>
void accumulate(const KernelCall& call, int input, F combine) {
  const Lines lines(call);
  const T* const x = static_cast<const T*>(call.inputs[static_cast<size_t>(input)].data);
  T* const y = static_cast<T*>(call.outputs[0].data);
  if (lines.step == 1) return accumulate_rows(lines, x, y, combine);
  each_block(lines, [&](int64_t first, int64_t columns) {
    const int64_t begin = first + lines.at(0);
    if (y != x) std::copy_n(x + begin, columns, y + begin);
    for (int64_t i = 1; i < lines.size; ++i) {
      const int64_t at = first + lines.at(i), before = first + lines.at(i - 1);
      for (int64_t k = 0; k < columns; ++k) y[at + k] = combine(y[before + k], x[at + k], at + k);
    }
  });
}

// Integers wrap: they are computed as unsigned ones.
template <class F>
void accumulate_any(const KernelCall& call, F combine) {
  switch (call.outputs[0].spec->type) {
    case DType::f64: return accumulate<double>(call, 0, combine);
    case DType::i32: return accumulate<uint32_t>(call, 0, combine);
    case DType::f32:
    case DType::u8:
    case DType::boolean:
    case DType::bf16:
    case DType::f16:
    case DType::i64: break;
  }
  accumulate<float>(call, 0, combine);
}

template <class T>
void recur(const KernelCall& call) {
  const T* const a = static_cast<const T*>(call.inputs[0].data);
  accumulate<T>(call, 1, [a](T before, T b, int64_t at) { return a[at] * before + b; });
}

}  // namespace

void run_cumsum(const KernelCall& call) {
  accumulate_any(call, [](auto before, auto x, int64_t) { return before + x; });
}

void run_cumprod(const KernelCall& call) {
  accumulate_any(call, [](auto before, auto x, int64_t) { return before * x; });
}

void run_linear_recurrence(const KernelCall& call) {
  if (call.outputs[0].spec->type == DType::f64) return recur<double>(call);
  recur<float>(call);
}

}  // namespace retrace
