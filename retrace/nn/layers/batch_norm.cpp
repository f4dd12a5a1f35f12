#include "retrace/nn/layers/batch_norm.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer batch_norm(const BatchNormOptions& options, Place place) {
  return Layer("batch_norm",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 walk.refuse_mask("batch_norm", x, place);
                 const Shape channels{x.rank() == 0 ? 1 : x.shape().back()};
                 const Tree parameters{{"scale", walk.parameter("scale", channels, {}, constant_values(1))},
                                       {"offset", walk.parameter("offset", channels, {}, constant_values(0))}};
                 const Tree state =
                     walk.state(channels, {{"mean", constant_values(0)}, {"variance", constant_values(1)}});
                 const auto result = retrace::batch_norm(x, parameters, state, walk.phase(), options, place);
                 if (walk.phase() == Phase::train) walk.set_moments(result.moments);
                 return Tree(result.y);
               })
      .with_options({{"epsilon", options.epsilon}});
}

LayerKind batch_norm_layer() {
  return {
      .name = "batch_norm",
      .help = "each channel normalised by the mini-batch, in inference by the running statistics",
      .options = {{.name = "epsilon", .help = "added to the variance", .standard = 1e-5, .high = 1, .above_low = true}},
      .learns = true,
      .layer = [](const OptionValues& options) { return batch_norm({.epsilon = options.number("epsilon")}); }};
}

}  // namespace retrace::nn
