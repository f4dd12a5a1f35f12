#include "retrace/ops/copy/strided_copy.h"

#include <algorithm>

#include "retrace/base/copy_bytes.h"
#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"

namespace retrace {

// (from, from_stride, to, to_stride, rows, count)
using WordRows = void (*)(const uint32_t*, int64_t, uint32_t*, int64_t, int64_t, int64_t);
extern const KernelTable<WordRows> reverse_words_table, copy_short_rows_table;

namespace {

constexpr int64_t kStridedCopyBlock = 16;  // side of a transposed block: both sides stay in the first-level cache
constexpr int64_t kTransposedStrip = 4 * kStridedCopyBlock;
constexpr int64_t kStridedCopyPieceElements = 1 << 15;
constexpr int64_t kRowElements = 1 << 13, kMostRowPieces = 64;  // of copies of the same rows

template <class T>
void copy_row(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t count) {
  if (from_stride == 1 && to_stride == 1) {
    copy_bytes(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  if constexpr (sizeof(T) == 4)
    if (from_stride == -1 && to_stride == 1) return reverse_words_table.get()(from, 0, to, 0, 1, count);
  for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
}

// The same of both axes, for words; these are moved, and not looked at, as numbers. Blocks go along the source within
// a strip, so that what it fetches ahead is used.
void transpose_words(const uint32_t* from, uint32_t* to, const StridedLayout& layout, int a, int b) {
  const auto transpose = contraction_kernels().transpose;
  for (int64_t strip = 0; strip < layout.shape[a]; strip += kTransposedStrip)
    for (int64_t j = 0; j < layout.shape[b]; j += kStridedCopyBlock)
      for (int64_t i = strip; i < std::min(strip + kTransposedStrip, layout.shape[a]); i += kStridedCopyBlock)
        transpose(reinterpret_cast<const float*>(from + i + j * layout.from[b]), layout.from[b],
                  reinterpret_cast<float*>(to + i * layout.to[a] + j), layout.to[a],
                  std::min(kStridedCopyBlock, layout.shape[b] - j), std::min(kStridedCopyBlock, layout.shape[a] - i));
}

// Axis a of the source is contiguous, axis b of the target.
template <class T>
void copy_transposed(const T* from, T* to, const StridedLayout& layout, int a, int b) {
  if constexpr (sizeof(T) == 4)
    if (layout.to[b] == 1) return transpose_words(from, to, layout, a, b);
  for (int64_t i0 = 0; i0 < layout.shape[a]; i0 += kStridedCopyBlock)
    for (int64_t j0 = 0; j0 < layout.shape[b]; j0 += kStridedCopyBlock)
      for (int64_t i = i0; i < std::min(i0 + kStridedCopyBlock, layout.shape[a]); ++i)
        copy_row(from + i * layout.from[a] + j0 * layout.from[b], layout.from[b],
                 to + i * layout.to[a] + j0 * layout.to[b], layout.to[b],
                 std::min(kStridedCopyBlock, layout.shape[b] - j0));
}

// What copies rows that a call for each would cost more than their words; null: the rows are others.
WordRows word_rows(const StridedLayout& layout) {
  const int last = layout.shape.rank() - 1;
  if (layout.to[last] != 1 || layout.shape[last] > 128) return nullptr;
  if (layout.from[last] == -1) return reverse_words_table.get();
  return layout.from[last] == 1 && layout.shape[last] >= 16 ? copy_short_rows_table.get() : nullptr;
}

template <class T>
void copy_axes(const T* from, T* to, const StridedLayout& layout, int axis, int a, int b) {
  const int last = layout.shape.rank() - 1;
  if (a < 0 && axis == last) return copy_row(from, layout.from[last], to, layout.to[last], layout.shape[last]);
  if (axis > last) return copy_transposed(from, to, layout, a, b);
  if constexpr (sizeof(T) == 4)
    if (const WordRows rows = a < 0 && axis == last - 1 ? word_rows(layout) : nullptr)
      return rows(from, layout.from[axis], to, layout.to[axis], layout.shape[axis], layout.shape[last]);
  if (axis == a || axis == b) return copy_axes(from, to, layout, axis + 1, a, b);
  for (int64_t i = 0; i < layout.shape[axis]; ++i)
    copy_axes(from + i * layout.from[axis], to + i * layout.to[axis], layout, axis + 1, a, b);
}

template <class T>
void copy(StridedLayout layout, const T* from, T* to) {
  const int last = layout.shape.rank() - 1;
  int contiguous = -1;  // axis along which the source is contiguous, if that is not the last
  for (int i = 0; i < last; ++i)
    if (layout.from[i] == 1 && layout.from[last] != 1) contiguous = i;
  const int64_t rows = layout.shape[0], elements = layout.shape.count();
  // Pieces of whole blocks where these lie along the rows.
  const int64_t unit = contiguous == 0 ? kStridedCopyBlock : 1, units = (rows + unit - 1) / unit;
  const int64_t pieces = std::clamp<int64_t>(elements / kStridedCopyPieceElements, 1, units);
  run_pieces(pieces, [&](int64_t piece) {
    const int64_t begin = units * piece / pieces * unit, end = std::min(rows, units * (piece + 1) / pieces * unit);
    StridedLayout part = layout;
    part.shape[0] = end - begin;
    copy_axes(from + begin * layout.from[0], to + begin * layout.to[0], part, 0, contiguous,
              contiguous < 0 ? -1 : last);
  });
}

}  // namespace

StridedLayout merged_layout(const Shape& shape, const Shape& from, const Shape& to) {
  StridedLayout layout;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    const int last = layout.shape.rank() - 1;
    if (last >= 0 && layout.from[last] == from[i] * shape[i] && layout.to[last] == to[i] * shape[i]) {
      layout.shape[last] *= shape[i];
      layout.from[last] = from[i];
      layout.to[last] = to[i];
    } else {
      layout.shape.push_back(shape[i]);
      layout.from.push_back(from[i]);
      layout.to.push_back(to[i]);
    }
  }
  if (layout.shape.empty()) layout = {{1}, {1}, {1}};
  return layout;
}

void strided_copy(size_t item, const Shape& shape, const void* from, const Shape& from_strides, void* to,
                  const Shape& to_strides) {
  if (shape.count() == 0) return;
  const StridedLayout layout = merged_layout(shape, from_strides, to_strides);
  switch (item) {
    case 1: return copy(layout, static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to));
    case 2: return copy(layout, static_cast<const uint16_t*>(from), static_cast<uint16_t*>(to));
    case 4: return copy(layout, static_cast<const uint32_t*>(from), static_cast<uint32_t*>(to));
    case 8: return copy(layout, static_cast<const uint64_t*>(from), static_cast<uint64_t*>(to));
  }
  ensure(false, "elements have 1, 2, 4 or 8 bytes");
}

void copy_by_rows(int64_t rows, int64_t elements, FunctionRef<void(int64_t begin, int64_t end)> copy) {
  const int64_t pieces =
      std::clamp<int64_t>(elements / kRowElements, 1, std::min(std::max<int64_t>(rows, 1), kMostRowPieces));
  run_pieces(pieces, [&](int64_t piece) { copy(rows * piece / pieces, rows * (piece + 1) / pieces); });
}

}  // namespace retrace
