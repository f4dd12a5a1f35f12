#include "retrace/data/datasets.h"

#include <algorithm>

#include "retrace/data/source_kind.h"

namespace retrace {
namespace {

// The largest square that is not above, with at least two points a side for training.
int64_t nearest_count(Split split, int64_t samples) {
  int64_t side = split == Split::train ? 2 : 1;
  while ((side + 1) * (side + 1) <= samples) ++side;
  return side * side;
}

}  // namespace

SourceKind peaks_source() {
  return {
      .name = "peaks",
      .help = "points of a surface with three hills and three hollows, and its height there",
      .targets = {{.name = "value", .kind = nn::OutputKind::values}},
      .sample = [](const SourceRequest&) { return Shape{2}; },
      .load = [](Split split, const SourceRequest& request) { return datasets::peaks_points(split, request.samples); },
      .description =
          [](Split split, const SourceRequest& request) {
            const int64_t side = datasets::peaks_side(split, request.samples) - (split == Split::test);
            return SourceDescription{side * side,
                                     {{DType::f32, {2}, Labels("C"), {}}, {DType::f32, {1}, Labels("C"), {}}}};
          },
      .counts = "a square number: the peaks surface is sampled on a grid",
      .nearest_count = nearest_count};
}

}  // namespace retrace
