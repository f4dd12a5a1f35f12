#include "retrace/nn/layers/instance_norm.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer instance_norm(const GroupNormOptions& options, Place place) {
  return Layer("instance_norm",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 walk.refuse_mask("instance_norm", x, place);
                 const Shape channels{x.rank() == 0 ? 1 : x.shape().back()};
                 const Tensor scale = walk.parameter("scale", channels, {}, constant_values(1));
                 const Tensor offset = walk.parameter("offset", channels, {}, constant_values(0));
                 return Tree(retrace::instance_norm(x, scale, offset, options, place));
               })
      .with_options({{"epsilon", options.epsilon}});
}

LayerKind instance_norm_layer() {
  return {
      .name = "instance_norm",
      .help = "each sample's channels normalised by their own mean and variance",
      .options = {{.name = "epsilon", .help = "added to the variance", .standard = 1e-5, .high = 1, .above_low = true}},
      .learns = true,
      .layer = [](const OptionValues& options) { return instance_norm({.epsilon = options.number("epsilon")}); }};
}

}  // namespace retrace::nn
