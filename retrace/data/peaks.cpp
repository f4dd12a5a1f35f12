#include "retrace/data/datasets.h"

#include <fmt/format.h>

#include "retrace/base/double_math.h"
#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"

namespace retrace::datasets {

double peaks_surface(double x, double y) {
  using double_math::exp;
  const double x2 = x * x, y2 = y * y;
  return 3 * (1 - x) * (1 - x) * exp(-x2 - (y + 1) * (y + 1)) - 10 * (x / 5 - x * x2 - y * y2 * y2) * exp(-x2 - y2) -
         exp(-(x + 1) * (x + 1) - y2) / 3;
}

Datastore peaks(Split split, int64_t side, Place place) {
  if (side < 2 || side > 4096)
    throw Error(ErrorKind::usage, 319, fmt::format("peaks: a grid of {} points a side was asked for", side))
        .where(place)
        .expected("2 to 4096");
  const FloatingPointScope floating_point;
  const double step = 6.0 / static_cast<double>(side - 1), start = split == Split::train ? -3.0 : -3.0 + step / 2;
  const int64_t count = split == Split::train ? side : side - 1;
  std::vector<float> points, heights;
  for (int64_t i = 0; i < count * count; ++i) {
    const double x = start + step * static_cast<double>(i / count), y = start + step * static_cast<double>(i % count);
    points.insert(points.end(), {static_cast<float>(x), static_cast<float>(y)});
    heights.push_back(static_cast<float>(peaks_surface(x, y)));
  }
  return array_store({Tensor::from(points, {count * count, 2}, "BC"), Tensor::from(heights, {count * count, 1}, "BC")});
}

Datastore peaks_points(Split split, int64_t count, Place place) {
  return peaks(split, peaks_side(split, count, place), place);
}

int64_t peaks_side(Split split, int64_t count, Place place) {
  constexpr int64_t kSide = 200;
  if (count == 0) return kSide;
  int64_t side = 0;
  while (side < 4096 && (side + 1) * (side + 1) <= count) ++side;
  const int64_t points = split == Split::train ? side : side + 1;
  if (points >= kSide) return kSide;
  if (side * side != count || points < 2)
    throw Error(ErrorKind::usage, 319, fmt::format("peaks: {} observations make no square grid", count))
        .where(place)
        .expected(fmt::format("a square number{}", split == Split::train ? " from 4 on" : ""));
  return points;
}

}  // namespace retrace::datasets
