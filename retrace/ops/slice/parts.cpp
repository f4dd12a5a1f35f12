// Parts of one axis: x[i], select, ranges and splits, by slice.
#include <fmt/format.h>

#include "retrace/base/error.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"

namespace retrace {
namespace {

Tensor part(const Tensor& x, int axis, const AxisRange& range, Place place) {
  SliceOptions options{.end = x.shape()};
  for (int i = 0; i < x.rank(); ++i) options.begin.push_back(0), options.step.push_back(1);
  options.begin[axis] = range.begin, options.step[axis] = range.step;
  if (range.end != AxisRange().end) options.end[axis] = range.end;
  return slice(x, options, place);
}

Tensor element(const Tensor& x, int axis, int64_t index, std::string_view function, Place place) {
  const int64_t size = x.shape()[axis];
  if (index < -size || index >= size)
    throw Error(ErrorKind::usage, 165,
                fmt::format("{}: index {} is outside of axis {}, which has the size {}", function, index, axis, size))
        .where(place)
        .got("x " + x.spec().text())
        .expected(size == 0 ? std::string("no index: the axis is empty")
                            : fmt::format("an index from {} to {}", -size, size - 1));
  const int64_t at = index < 0 ? index + size : index;
  return squeeze(part(x, axis, {at, at + 1}, place), axis, place);
}

}  // namespace

Tensor Tensor::operator[](AxisIndex i) const {
  return element(*this, normalized_axis(0, rank(i.place), "x[i]", i.place), i.value, "x[i]", i.place);
}

Tensor select(const Tensor& x, const Axes& axis, int64_t index, Place place) {
  return element(x, axis.one_of(x.spec(place), "select", place), index, "select", place);
}

Tensor slice(const Tensor& x, const Axes& axis, const AxisRange& range, Place place) {
  return part(x, axis.one_of(x.spec(place), "slice", place), range, place);
}

}  // namespace retrace
