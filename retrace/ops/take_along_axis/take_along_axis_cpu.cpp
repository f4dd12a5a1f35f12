#include <algorithm>
#include <atomic>

#include "retrace/device/cpu/threads.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/take_along_axis/take_along_axis_kernel.h"

namespace retrace {
namespace {

constexpr int64_t kPieceElements = 1 << 14;
constexpr int64_t kColumns = 512;  // at a time, where lines lie side by side

// body(first, end) of pieces of `count`; returns whether it was true for all of them.
template <class Body>
bool all_pieces(int64_t count, int64_t elements, Body body) {
  const int64_t pieces = std::clamp<int64_t>(elements / kPieceElements, 1, count);
  std::atomic<bool> all = true;
  run_pieces(pieces, [&](int64_t piece) {
    if (!body(count * piece / pieces, count * (piece + 1) / pieces)) all.store(false, std::memory_order_relaxed);
  });
  return all.load(std::memory_order_relaxed);
}

// Lines of neighbouring elements.
template <class T>
bool take_from_rows(const AlongAxis& along, const T* x, const int32_t* index, T* y) {
  return all_pieces(along.outer, along.outer * along.picks, [&](int64_t first, int64_t end) {
    if (!indices_exist(index + first * along.picks, (end - first) * along.picks, along.size)) return false;
    for (int64_t o = first; o < end; ++o) {
      const T* const line = x + o * along.size;
      const int32_t* const from = index + o * along.picks;
      T* const to = y + o * along.picks;
#pragma GCC unroll 8
      for (int64_t i = 0; i < along.picks; ++i) to[i] = line[from[i]];
    }
    return true;
  });
}

template <class T>
bool take(const KernelCall& call) {
  const AlongAxis along(call.attributes, call.inputs[0].spec->shape, call.inputs[1].spec->shape);
  const auto* const x = static_cast<const T*>(call.inputs[0].data);
  const auto* const index = static_cast<const int32_t*>(call.inputs[1].data);
  auto* const y = static_cast<T*>(call.outputs[0].data);
  const int64_t rows = along.outer * along.picks, step = along.step;
  if (rows == 0 || step == 0) return true;
  if (step == 1 && along.outer > 1) return take_from_rows(along, x, index, y);
  return all_pieces(rows, rows * step, [&](int64_t row, int64_t end) {
    if (!indices_exist(index + row * step, (end - row) * step, along.size)) return false;
    int64_t in_line = row % along.picks;
    const T* lines = x + row / along.picks * along.size * step;
    for (; row < end; ++row) {
      for (int64_t k = 0; k < step; ++k) y[row * step + k] = lines[index[row * step + k] * step + k];
      if (++in_line == along.picks) in_line = 0, lines += along.size * step;
    }
    return true;
  });
}

// Columns column..column+columns-1 of the lines of one outer index.
template <class T>
bool add_columns(const AlongAxis& along, const T* x, const int32_t* index, const T* source, T* y, int64_t columns) {
  if (along.step == 1) {
    if (!indices_exist(index, along.picks, along.size)) return false;
    std::copy_n(x, along.size, y);
    for (int64_t i = 0; i < along.picks; ++i) y[index[i]] = y[index[i]] + source[i];
    return true;
  }
  for (int64_t i = 0; i < along.picks; ++i)
    if (!indices_exist(index + i * along.step, columns, along.size)) return false;
  for (int64_t i = 0; i < along.size; ++i) std::copy_n(x + i * along.step, columns, y + i * along.step);
  for (int64_t i = 0; i < along.picks; ++i)
    for (int64_t k = 0; k < columns; ++k) {
      T& sum = y[index[i * along.step + k] * along.step + k];
      sum = sum + source[i * along.step + k];
    }
  return true;
}

template <class T>
bool scatter(const KernelCall& call) {
  const AlongAxis along(call.attributes, call.inputs[0].spec->shape, call.inputs[1].spec->shape);
  const auto* const x = static_cast<const T*>(call.inputs[0].data);
  const auto* const index = static_cast<const int32_t*>(call.inputs[1].data);
  const auto* const source = static_cast<const T*>(call.inputs[2].data);
  auto* const y = static_cast<T*>(call.outputs[0].data);
  const int64_t width = std::min(along.step, kColumns);
  if (width == 0 || along.outer == 0) return true;
  const int64_t across = (along.step + width - 1) / width, blocks = along.outer * across;
  const int64_t elements = along.outer * along.step * (along.size + along.picks);
  return all_pieces(blocks, elements, [&](int64_t block, int64_t end) {
    for (; block < end; ++block) {
      const int64_t outer = block / across, column = block % across * width;
      const int64_t first = outer * along.size * along.step + column;
      const int64_t pick = outer * along.picks * along.step + column;
      if (!add_columns(along, x + first, index + pick, source + pick, y + first, std::min(width, along.step - column)))
        return false;
    }
    return true;
  });
}

}  // namespace

bool run_take_along_axis(const KernelCall& call) {
  switch (size_of(call.outputs[0].spec->type)) {
    case 1: return take<uint8_t>(call);
    case 4: return take<uint32_t>(call);
    default: return take<uint64_t>(call);
  }
}

bool run_scatter_add(const KernelCall& call) {
  switch (call.outputs[0].spec->type) {
    case DType::f64: return scatter<double>(call);
    case DType::i32: return scatter<uint32_t>(call);
    case DType::f32:
    case DType::u8:
    case DType::boolean:
    case DType::bf16:
    case DType::f16:
    case DType::i64: break;
  }
  return scatter<float>(call);
}

}  // namespace retrace
