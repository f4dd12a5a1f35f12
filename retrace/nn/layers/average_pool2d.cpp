#include "retrace/nn/layers/average_pool2d.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer average_pool2d(Pair pool, const AveragePool2dOptions& options, Place place) {
  return layer_of([=](const Tensor& x) { return retrace::average_pool2d(x, pool, options, place); }, "average_pool2d")
      .with_options({{"size", size_value(pool)},
                     {"stride", stride_value(options.stride)},
                     {"padding", padding_value(options.padding)},
                     {"count_padding", options.count_padding}});
}

LayerKind average_pool2d_layer() {
  return {
      .name = "average_pool2d",
      .help = "the mean over a window that moves over the image",
      .options = {size_rule("size", "of the window: one number, or [height, width]", 2),
                  pool_stride_rule(),
                  padding_rule("padding", "around the image"),
                  {.name = "count_padding", .help = "whether padded zeros count in the divisor", .standard = false}},
      .required = {"size"},
      .layer = [](const OptionValues& options) {
        return average_pool2d(pair_of(options, "size"), {.stride = pool_stride_of(options),
                                                         .padding = padding_of(options, "padding"),
                                                         .count_padding = options.truth("count_padding")});
      }};
}

}  // namespace retrace::nn
