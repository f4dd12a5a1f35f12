#include "retrace/nn/layers/prelu.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/parameters.h"
#include "retrace/ops/leaky_relu/leaky_relu.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace::nn {

Layer prelu(double slope, Place place) {
  return Layer("prelu",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 const int64_t channels = x.rank() == 0 ? 1 : x.shape().back();
                 Tensor slopes = walk.parameter("slope", {channels}, {}, constant_values(slope));
                 if (!x.labels().empty()) {  // an axis for each of x, so that it has its labels
                   Shape shape;
                   for (int i = 0; i + 1 < x.rank(); ++i) shape.push_back(1);
                   shape.push_back(channels);
                   slopes = reshape(slopes, shape, x.labels(), place);
                 }
                 return Tree(retrace::leaky_relu(x, slopes, place));
               })
      .with_options({{"slope", slope}});
}

LayerKind prelu_layer() {
  return {.name = "prelu",
          .help = "x, or a learned slope of its channel times x where it is negative",
          .options = {{.name = "slope", .help = "the slopes at first", .standard = 0.25, .high = 1e6}},
          .learns = true,
          .layer = [](const OptionValues& options) { return prelu(options.number("slope")); }};
}

}  // namespace retrace::nn
