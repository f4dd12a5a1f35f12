#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_op.h"

namespace retrace {
namespace {

// adaptive_window() of each i, without a division for each.
std::vector<AdaptiveRange<int64_t>> all_adaptive_windows(int64_t size, int64_t count) {
  std::vector<AdaptiveRange<int64_t>> windows;
  windows.reserve(static_cast<size_t>(count));
  const int64_t whole = size / count, rest = size % count;
  int64_t first = 0, over = 0;  // first + over / count is where a window begins
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = first;
    first += whole, over += rest;
    if (over >= count) ++first, over -= count;
    windows.push_back({begin, first + (over > 0 ? 1 : 0)});
  }
  return windows;
}

// The axes before and behind the attribute `axis` as one each.
AdaptiveShape shape_around(const Attributes& attributes, const Shape& shape, int64_t size, int64_t windows) {
  const int axis = static_cast<int>(attributes.integer("axis"));
  AdaptiveShape result{1, size, windows, 1};
  for (int i = 0; i < axis; ++i) result.outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) result.inner *= shape[i];
  return result;
}

// The spec with another size along the attribute `axis`.
TensorSpec with_size(const InferCall& call, int64_t size) {
  TensorSpec spec = call.inputs[0];
  spec.shape[static_cast<int>(call.attributes.integer("axis"))] = size;
  return spec;
}

void check_axis_of_windows(const InferCall& call) {
  check_float(call, 0, "x");
  const int64_t axis = call.attributes.integer("axis"), size = call.attributes.integer("size");
  const Shape& shape = call.inputs[0].shape;
  check_axis(call, axis, shape.rank());
  if (axis > 0 && size > 0 && shape[static_cast<int>(axis)] > 0) return;
  op_error(call, 287, fmt::format("axis {} cannot become {} elements", axis, size), call.inputs[0].text(),
           "an axis from 1 on, and at least one element before and behind");
}

}  // namespace

AdaptiveShape adaptive_pooled_shape(const Attributes& attributes, const Shape& x) {
  return shape_around(attributes, x, x[static_cast<int>(attributes.integer("axis"))], attributes.integer("size"));
}

AdaptiveShape adaptive_spread_shape(const Attributes& attributes, const Shape& dy) {
  return shape_around(attributes, dy, attributes.integer("size"), dy[static_cast<int>(attributes.integer("axis"))]);
}

TensorSpec infer_adaptive_pooled(const InferCall& call) {
  check_axis_of_windows(call);
  return with_size(call, call.attributes.integer("size"));
}

TensorSpec infer_adaptive_spread(const InferCall& call, size_t inputs) {
  check_axis_of_windows(call);
  const TensorSpec x = with_size(call, call.attributes.integer("size"));
  const size_t given = call.inputs.size();
  const bool fits = given == inputs ||
                    (given == inputs + 1 && call.inputs.back().shape == x.shape && call.inputs.back().type == x.type);
  if (fits) return x;
  op_error(call, 287, "dy cannot become what it is added to", call.inputs.back().text(), x.text());
}

std::vector<AdaptiveRange<int64_t>> adaptive_windows(const AdaptiveShape& shape) {
  return all_adaptive_windows(shape.size, shape.windows);
}

std::vector<AdaptiveCover<int64_t>> adaptive_covers(const AdaptiveShape& shape) {
  std::vector<AdaptiveCover<int64_t>> covers;
  covers.reserve(static_cast<size_t>(shape.size));
  const int64_t kinds = shape.kinds();
  for (const AdaptiveRange<int64_t>& windows : all_adaptive_windows(shape.windows, shape.size))
    covers.push_back(adaptive_cover(windows, kinds));
  return covers;
}

}  // namespace retrace
