#include "retrace/ops/diagonal/diagonal.h"

#include <algorithm>

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

void check_axes(const Tensor& x, int axes, std::string_view function, Place place) {
  if (x.rank(place) >= axes) return;
  throw Error(ErrorKind::usage, 133, fmt::format("{}: x has {} axes", function, x.rank()))
      .where(place)
      .got("x " + x.spec().text())
      .expected(axes == 1 ? "1 axis or more" : "2 axes or more: the last two are a matrix");
}

// The whole numbers from `first` on.
Tensor numbers(int64_t first, int64_t count, DType type, const Tensor& x, Place place) {
  return Tensor::arange(static_cast<double>(first), static_cast<double>(first + count), 1, type, place).to(x.device());
}

// Columns, and for each row the column of its element of the diagonal; a diagonal outside is one beside the matrix.
struct Columns {
  Columns(const Tensor& x, int64_t diagonal, Place place) {
    const int64_t rows = x.shape()[x.rank() - 2], columns = x.shape().back();
    // Pointwise chains are of f32.
    const DType type = rows + columns <= 1 << 24 ? DType::f32 : DType::i32;
    number = numbers(0, columns, type, x, place);
    of_row = reshape(numbers(std::clamp(diagonal, -rows, columns), rows, type, x, place), {rows, 1}, "", place);
  }
  Tensor number, of_row;
};

// A whole number beyond any size of a tensor changes nothing, and neither sum nor product of it overflows.
int64_t within_sizes(int64_t offset) { return std::clamp(offset, -kMaxElements, kMaxElements); }

// All axes but the last `count`.
Shape leading(const Tensor& x, int count) {
  Shape shape;
  for (int i = 0; i < x.rank() - count; ++i) shape.push_back(x.shape()[i]);
  return shape;
}

// Where a diagonal begins in a matrix that is written as one row.
int64_t begin_of(int64_t offset, int64_t columns) { return offset >= 0 ? offset : -offset * columns; }

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal, Place place) {
  check_axes(x, 2, "tril", place);
  const Columns columns(x, diagonal, place);
  return where(less_equal(columns.number, columns.of_row, place), x, constant_like(x, 0), place);
}

Tensor triu(const Tensor& x, int64_t diagonal, Place place) {
  check_axes(x, 2, "triu", place);
  const Columns columns(x, diagonal, place);
  return where(greater_equal(columns.number, columns.of_row, place), x, constant_like(x, 0), place);
}

Tensor diagonal(const Tensor& x, int64_t offset, Place place) {
  check_axes(x, 2, "diagonal", place);
  offset = within_sizes(offset);
  const int64_t rows = x.shape()[x.rank() - 2], columns = x.shape().back();
  const int64_t count =
      std::max<int64_t>(0, std::min(rows + std::min<int64_t>(offset, 0), columns - std::max<int64_t>(offset, 0)));
  const int64_t begin = count == 0 ? 0 : begin_of(offset, columns);
  const int64_t end = count == 0 ? 0 : begin + (count - 1) * (columns + 1) + 1;
  Shape flat = leading(x, 2), shape = leading(x, 2);
  flat.push_back(rows * columns), shape.push_back(count);
  const std::string_view labels = x.labels();
  const Tensor matrices = reshape(x, flat, "", place);
  const Tensor y = slice(matrices, -1, {begin, end, columns + 1}, place);
  return reshape(y, shape, labels.substr(0, labels.empty() ? 0 : labels.size() - 1), place);
}

Tensor diag_embed(const Tensor& x, int64_t offset, Place place) {
  check_axes(x, 1, "diag_embed", place);
  offset = within_sizes(offset);
  const int64_t size = x.shape().back() + (offset < 0 ? -offset : offset);
  Shape shape = leading(x, 1), begin, step;
  for (int i = 0; i < shape.rank(); ++i) begin.push_back(0), step.push_back(1);
  begin.push_back(begin_of(offset, size)), step.push_back(size + 1);
  Shape whole = shape;
  whole.push_back(size, place), whole.push_back(size, place);
  shape.push_back(whole.count() == 0 && size == 0 ? 0 : size * size);
  const Tensor rows = pad(reshape(x, x.shape(), "", place), shape, {.begin = begin, .step = step}, place);
  const std::string labels(x.labels());
  return reshape(rows, whole, labels.empty() ? labels : labels + "U", place);
}

void define_diagonal(OpTable&) {}  // no op of its own: these are made of where, slice and pad

}  // namespace retrace
