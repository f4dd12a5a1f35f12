#include "retrace/ops/flip/flip.h"

#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/gather_rows/gather_rows.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace {
namespace {

// The order of axes that swaps one with the first, which is its own reverse.
Shape swapped_with_first(int rank, int axis) {
  Shape order;
  for (int i = 0; i < rank; ++i) order.push_back(i == 0 ? axis : (i == axis ? 0 : i));
  return order;
}

Tensor reversed(const Tensor& x, int axis, Place place) {
  std::vector<int32_t> index;
  for (int64_t i = x.shape()[axis] - 1; i >= 0; --i) index.push_back(static_cast<int32_t>(i));
  const Shape shape{static_cast<int64_t>(index.size())};
  return take(x, axis, Tensor::from(index, shape, "", place).to(x.device()), place);
}

}  // namespace

Tensor take(const Tensor& x, const Axes& axis, const Tensor& index, Place place) {
  const int along = axis.one_of(x.spec(place), "take", place);
  if (index.rank() != 1)
    throw Error(ErrorKind::usage, 219, fmt::format("take: the index has {} axes", index.rank()))
        .where(place)
        .got("index " + index.spec().text())
        .expected("one axis");
  const Tensor bare = reshape(x, x.shape(), "", place);
  const Shape order = swapped_with_first(x.rank(), along);
  const Tensor rows = reshape(index, index.shape(), "", place);
  Tensor y = gather_rows(along == 0 ? bare : transpose(bare, order, place), rows, place);
  if (along != 0) y = transpose(y, order, place);
  return reshape(y, y.shape(), x.labels(), place);
}

Tensor flip(const Tensor& x, const Axes& axes, Place place) {
  Tensor y = x;
  for (const int64_t axis : axes.of_or_all(x.spec(place), "flip", place))
    y = reversed(y, static_cast<int>(axis), place);
  return y;
}

Tensor roll(const Tensor& x, const Axes& axis, int64_t shift, Place place) {
  const int along = axis.one_of(x.spec(place), "roll", place);
  const int64_t size = x.shape()[along];
  const int64_t moved = size == 0 ? 0 : (shift % size + size) % size;
  if (moved == 0) return x;
  const Tensor end = slice(x, along, {size - moved, size}, place), begin = slice(x, along, {0, size - moved}, place);
  return concatenate({end, begin}, along, place);
}

void define_flip(OpTable&) {}  // no op of its own: these are made of gather_rows, slice and concatenate

}  // namespace retrace
