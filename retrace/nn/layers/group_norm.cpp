#include "retrace/nn/layers/group_norm.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer group_norm(int64_t groups, const GroupNormOptions& options, Place place) {
  return Layer("group_norm",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 walk.refuse_mask("group_norm", x, place);
                 const Shape channels{x.rank() == 0 ? 1 : x.shape().back()};
                 const Tensor scale = walk.parameter("scale", channels, {}, constant_values(1));
                 const Tensor offset = walk.parameter("offset", channels, {}, constant_values(0));
                 return Tree(retrace::group_norm(x, scale, offset, groups, options, place));
               })
      .with_options({{"groups", groups}, {"epsilon", options.epsilon}});
}

LayerKind group_norm_layer() {
  return {.name = "group_norm",
          .help = "each sample's groups of channels normalised by their own mean and variance",
          .options =
              {{.name = "groups", .help = "a divisor of the channels", .standard = int64_t{1}, .low = 1, .high = 1e9},
               {.name = "epsilon", .help = "added to the variance", .standard = 1e-5, .high = 1, .above_low = true}},
          .required = {"groups"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return group_norm(options.integer("groups"), {.epsilon = options.number("epsilon")});
          }};
}

}  // namespace retrace::nn
