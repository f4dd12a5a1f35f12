#include "retrace/nn/layers/rms_norm.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer rms_norm(const RmsNormOptions& options, Place place) {
  return Layer("rms_norm",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 const Shape features{x.rank() == 0 ? 1 : x.shape().back()};
                 const Tensor scale = walk.parameter("scale", features, {}, constant_values(1));
                 return Tree(retrace::rms_norm(x, scale, options, place));
               })
      .with_options({{"epsilon", options.epsilon}});
}

LayerKind rms_norm_layer() {
  return {.name = "rms_norm",
          .help = "the features of each position divided by the root of their mean square",
          .options =
              {{.name = "epsilon", .help = "added to the mean square", .standard = 1e-6, .high = 1, .above_low = true}},
          .learns = true,
          .layer = [](const OptionValues& options) { return rms_norm({.epsilon = options.number("epsilon")}); }};
}

}  // namespace retrace::nn
