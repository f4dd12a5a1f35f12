#include "retrace/ops/unfold/unfold.h"

#include <algorithm>

#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace {
namespace {

// The number of windows.
int64_t windows_of(const Tensor& x, int axis, int64_t size, const UnfoldOptions& options, Place place) {
  const int64_t n = x.shape()[axis];
  const bool usable = std::min({size, options.step, options.dilation}) >= 1;
  if (usable && n >= 1 && size <= n && (size == 1 || options.dilation <= (n - 1) / (size - 1)))
    return (n - 1 - (size - 1) * options.dilation) / options.step + 1;
  throw Error(ErrorKind::usage, 282,
              usable ? fmt::format("unfold: a window of {} with dilation {} does not fit into axis {} of {}", size,
                                   options.dilation, axis, n)
                     : fmt::format("unfold: size {}, step {}, dilation {}", size, options.step, options.dilation))
      .where(place)
      .got("x " + x.spec().text())
      .expected(usable ? "a window inside of the axis" : "1 or more");
}

// [.., size, .., windows] to [.., windows, .., size].
Tensor with_last_swapped(const Tensor& x, int axis, Place place) {
  Shape order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i == axis ? x.rank() - 1 : i == x.rank() - 1 ? axis : i);
  return transpose(x, order, place);
}

}  // namespace

Tensor unfold(const Tensor& x, const Axes& axis, int64_t size, const UnfoldOptions& options, Place place) {
  const int along = axis.one_of(x.spec(place), "unfold", place);
  const int64_t windows = windows_of(x, along, size, options, place);
  const auto [step, dilation] = options;
  std::vector<Tensor> parts;
  if (size <= windows) {
    for (int64_t k = 0; k < size; ++k)
      parts.push_back(slice(x, along, {k * dilation, k * dilation + (windows - 1) * step + 1, step}, place));
    return stack(parts, -1, place);
  }
  for (int64_t i = 0; i < windows; ++i)
    parts.push_back(slice(x, along, {i * step, i * step + (size - 1) * dilation + 1, dilation}, place));
  const Tensor y = stack(parts, -1, place);
  const Tensor swapped = with_last_swapped(reshape(y, y.shape(), "", place), along, place);
  return reshape(swapped, swapped.shape(), y.labels(), place);
}

void define_unfold(OpTable&) {}  // no op of its own: it is made of slices

}  // namespace retrace
