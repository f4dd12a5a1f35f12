#include "retrace/ops/adaptive_pool2d/adaptive_pool2d.h"

#include <algorithm>

#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_op.h"
#include "retrace/ops/average_pool2d/average_pool2d.h"
#include "retrace/ops/max_pool2d/max_pool2d.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {
namespace {

constexpr int64_t kAdaptivePool2dMost = 4096;

// How windows of one size are pooled, and an axis that they do not part evenly.
struct AdaptivePool {
  Tensor (*tiles)(const Tensor& x, Pair window, Place place);
  Tensor (*along)(const Tensor& x, int axis, int64_t size, Place place);
};

// One axis to `size` windows.
Tensor pooled_along(const Tensor& x, int axis, int64_t size, const AdaptivePool& pool, Place place) {
  const int64_t n = x.shape()[axis];
  if (size == n) return x;
  if (n % size != 0) return pool.along(x, axis, size, place);
  return pool.tiles(x, axis == 1 ? Pair(n / size, 1) : Pair(1, n / size), place);
}

Tensor pooled(std::string_view name, const Tensor& x, Pair size, const AdaptivePool& pool, Place place) {
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
  if (height % size.y == 0 && width % size.x == 0) return pool.tiles(x, {height / size.y, width / size.x}, place);
  const Tensor plain = x.labels().empty() ? x : reshape(x, x.shape(), "", place);
  const Tensor y = pooled_along(pooled_along(plain, 2, size.x, pool, place), 1, size.y, pool, place);
  return x.labels().empty() ? y : reshape(y, y.shape(), x.labels(), place);
}

Tensor mean_tiles(const Tensor& x, Pair window, Place place) { return average_pool2d(x, window, {}, place); }
Tensor max_tiles(const Tensor& x, Pair window, Place place) { return max_pool2d(x, window, {}, place); }

}  // namespace

Tensor adaptive_average_pool2d(const Tensor& x, Pair size, Place place) {
  return pooled("adaptive_average_pool2d", x, size, {mean_tiles, adaptive_average_along}, place);
}

// Columns before rows, so that of equal elements the first in the order of rows and columns wins.
Tensor adaptive_max_pool2d(const Tensor& x, Pair size, Place place) {
  return pooled("adaptive_max_pool2d", x, size, {max_tiles, adaptive_max_along}, place);
}

void define_adaptive_pool2d(OpTable& table) {
  define_adaptive_average(table);
  define_adaptive_max(table);
}

}  // namespace retrace
