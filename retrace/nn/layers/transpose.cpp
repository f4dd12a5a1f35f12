#include "retrace/nn/layers/transpose.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/sample_labels.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace::nn {

Layer transpose(const Shape& order, Place place) {
  const auto moved = [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    walk.refuse_mask("transpose", x, place);
    std::vector<int64_t> axes{0};
    for (const int64_t axis : order) axes.push_back(axis + 1);
    const Tensor y = retrace::transpose(x, Shape(axes, place), place);
    return Tree(retrace::reshape(y, y.shape(), sample_labels(x, y.rank()), place));
  };
  return Layer("", moved)
      .shown_as("transpose")
      .with_options({{"order", std::vector<int64_t>(order.begin(), order.end())}});
}

LayerKind transpose_layer() {
  return {.name = "transpose",
          .help = "the axes of a sample in another order",
          .options = {{.name = "order",
                       .help = "the axis of the sample that stands at each place, from 0",
                       .standard = std::vector<int64_t>{1, 0},
                       .low = 0,
                       .high = 6}},
          .required = {"order"},
          .layer = [](const OptionValues& options) { return transpose(Shape(options.integers("order"))); }};
}

}  // namespace retrace::nn
