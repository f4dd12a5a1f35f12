#include "retrace/nn/layers/cross_channel_norm.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer cross_channel_norm(int64_t size, const CrossChannelNormOptions& options, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::cross_channel_norm(x, size, options, place); },
                  "cross_channel_norm")
      .with_options({{"size", size}, {"alpha", options.alpha}, {"beta", options.beta}, {"k", options.k}});
}

LayerKind cross_channel_norm_layer() {
  return {
      .name = "cross_channel_norm",
      .help = "each number divided by a power of the mean square of the channels around it",
      .options = {{.name = "size", .help = "channels of the window", .standard = int64_t{5}, .low = 1, .high = 65'536},
                  {.name = "alpha", .help = "factor of the mean square", .standard = 1e-4, .high = 1e6},
                  {.name = "beta", .help = "the power", .standard = 0.75, .high = 1e3},
                  {.name = "k", .help = "added to the mean square", .standard = 2.0, .high = 1e6, .above_low = true}},
      .layer = [](const OptionValues& options) {
        return cross_channel_norm(
            options.integer("size"),
            {.alpha = options.number("alpha"), .beta = options.number("beta"), .k = options.number("k")});
      }};
}

}  // namespace retrace::nn
