#include "retrace/nn/layers/layer_norm.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer layer_norm(const LayerNormOptions& options, Place place) {
  return Layer("layer_norm",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 const Shape features{x.rank() == 0 ? 1 : x.shape().back()};
                 const Tensor scale = walk.parameter("scale", features, {}, constant_values(1));
                 const Tensor offset = walk.parameter("offset", features, {}, constant_values(0));
                 return Tree(retrace::layer_norm(x, scale, offset, options, place));
               })
      .with_options({{"epsilon", options.epsilon}});
}

LayerKind layer_norm_layer() {
  return {
      .name = "layer_norm",
      .help = "the features of each position normalised by their own mean and variance",
      .options = {{.name = "epsilon", .help = "added to the variance", .standard = 1e-5, .high = 1, .above_low = true}},
      .learns = true,
      .layer = [](const OptionValues& options) { return layer_norm({.epsilon = options.number("epsilon")}); }};
}

}  // namespace retrace::nn
