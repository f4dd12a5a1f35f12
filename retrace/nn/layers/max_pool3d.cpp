#include "retrace/nn/layers/max_pool3d.h"

#include "retrace/nn/volume_rules.h"

namespace retrace::nn {

Layer max_pool3d(Triple size, const MaxPool3dOptions& options, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::max_pool3d(x, size, options, place); }, "max_pool3d")
      .with_options({{"size", triple_value(size)},
                     {"stride", triple_value(options.stride)},
                     {"padding", volume_padding_value(options.padding)}});
}

LayerKind max_pool3d_layer() {
  return {
      .name = "max_pool3d",
      .help = "the maximum over a window that moves over the volume",
      .options = {triple_rule("size", "of the window", 2),
                  triple_rule("stride", "how far the window moves; 0: by its own size", 0, 0), volume_padding_rule()},
      .required = {"size"},
      .layer = [](const OptionValues& options) {
        return max_pool3d(triple_of(options, "size"),
                          {.stride = triple_of(options, "stride"), .padding = volume_padding_of(options)});
      }};
}

}  // namespace retrace::nn
