#include "retrace/nn/layers/pixel_shuffle.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/pixel_shuffle/pixel_shuffle.h"

namespace retrace::nn {

Layer pixel_shuffle(int64_t factor, Place place) {
  const auto shuffled = [=](const Tensor& x) { return retrace::pixel_shuffle(x, factor, place); };
  return layer_of(shuffled, "pixel_shuffle").with_options({{"factor", factor}});
}

LayerKind pixel_shuffle_layer() {
  return {
      .name = "pixel_shuffle",
      .help = "channels as pixels: a larger image of fewer channels",
      .options = {{.name = "factor", .help = "of height and width", .standard = int64_t{2}, .low = 1, .high = 1024}},
      .layer = [](const OptionValues& options) { return pixel_shuffle(options.integer("factor")); }};
}

}  // namespace retrace::nn
