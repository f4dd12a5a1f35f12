#include "retrace/ops/adaptive_pool2d/adaptive_pool2d.h"

#include <algorithm>
#include <numeric>

#include "retrace/ops/average_pool2d/average_pool2d.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/max_pool2d/max_pool2d.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"

namespace retrace {
namespace {

constexpr int64_t kAdaptivePool2dMost = 4096;

using Pool = Tensor (*)(const Tensor& x, Pair window, Pair stride, Place place);

// One axis to `size` windows. Lengths and distances of the windows repeat after `kinds` of them, so that all windows of
// a kind are one pooling with a fixed stride.
Tensor pooled_along(const Tensor& x, int axis, int64_t size, Pool pool, Place place) {
  const int64_t n = x.shape()[axis], common = std::gcd(n, size), kinds = size / common, stride = n / common;
  if (size == n) return x;
  const auto along = [axis](int64_t length) { return axis == 1 ? Pair(length, 1) : Pair(1, length); };
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < kinds; ++i) {
    const int64_t first = i * n / size, length = ((i + 1) * n + size - 1) / size - first;
    const Tensor windows = slice(x, axis, {first, first + (common - 1) * stride + length}, place);
    parts.push_back(pool(windows, along(length), along(stride), place));
  }
  if (kinds == 1) return parts[0];
  Shape shape = x.shape();
  shape[axis] = size;
  return reshape(stack(parts, axis + 1, place), shape, "", place);
}

Tensor pooled(std::string_view name, const Tensor& x, Pair size, Pool pool, Place place) {
  check_defined(name, x, place);
  const bool image = x.rank(place) == 4 && is_float(x.type()) && (x.labels().empty() || x.labels() == "BSSC");
  if (!image || std::min({size.y, size.x, x.shape()[1], x.shape()[2]}) < 1 ||
      std::max(size.y, size.x) > kAdaptivePool2dMost)
    throw Error(ErrorKind::usage, 287,
                fmt::format("{}: x cannot become an image of {} x {} pixels", name, size.y, size.x))
        .where(place)
        .got("x " + x.spec().text())
        .expected(fmt::format("x f32 or f64 [batch,height,width,channels], unlabelled or \"BSSC\", with pixels, and "
                              "sizes from 1 to {}",
                              kAdaptivePool2dMost));
  const int64_t height = x.shape()[1], width = x.shape()[2];
  if (height % size.y == 0 && width % size.x == 0) {
    const Pair window(height / size.y, width / size.x);
    return pool(x, window, window, place);
  }
  const Tensor plain = x.labels().empty() ? x : reshape(x, x.shape(), "", place);
  const Tensor y = pooled_along(pooled_along(plain, 2, size.x, pool, place), 1, size.y, pool, place);
  return x.labels().empty() ? y : reshape(y, y.shape(), x.labels(), place);
}

}  // namespace

Tensor adaptive_average_pool2d(const Tensor& x, Pair size, Place place) {
  const Pool mean = [](const Tensor& windows, Pair window, Pair stride, Place at) {
    return average_pool2d(windows, window, {.stride = stride}, at);
  };
  return pooled("adaptive_average_pool2d", x, size, mean, place);
}

// Columns before rows, so that of equal elements the first in the order of rows and columns wins.
Tensor adaptive_max_pool2d(const Tensor& x, Pair size, Place place) {
  const Pool maximum = [](const Tensor& windows, Pair window, Pair stride, Place at) {
    return max_pool2d(windows, window, {.stride = stride}, at);
  };
  return pooled("adaptive_max_pool2d", x, size, maximum, place);
}

void define_adaptive_pool2d(OpTable&) {}  // no op of its own: it is average_pool2d or max_pool2d of slices

}  // namespace retrace
