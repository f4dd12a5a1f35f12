#include "retrace/nn/layers/average_pool3d.h"

#include "retrace/nn/volume_rules.h"

namespace retrace::nn {

Layer average_pool3d(Triple size, const AveragePool3dOptions& options, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::average_pool3d(x, size, options, place); }, "average_pool3d")
      .with_options({{"size", triple_value(size)},
                     {"stride", triple_value(options.stride)},
                     {"padding", volume_padding_value(options.padding)},
                     {"count_padding", options.count_padding}});
}

LayerKind average_pool3d_layer() {
  return {
      .name = "average_pool3d",
      .help = "the mean over a window that moves over the volume",
      .options = {triple_rule("size", "of the window", 2),
                  triple_rule("stride", "how far the window moves; 0: by its own size", 0, 0),
                  volume_padding_rule(),
                  {.name = "count_padding", .help = "whether padded zeros count in the divisor", .standard = false}},
      .required = {"size"},
      .layer = [](const OptionValues& options) {
        return average_pool3d(triple_of(options, "size"), {.stride = triple_of(options, "stride"),
                                                           .padding = volume_padding_of(options),
                                                           .count_padding = options.truth("count_padding")});
      }};
}

}  // namespace retrace::nn
