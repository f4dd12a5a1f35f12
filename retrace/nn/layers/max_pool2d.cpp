#include "retrace/nn/layers/max_pool2d.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer max_pool2d(Pair pool, const MaxPool2dOptions& options, Place place) {
  const auto pooled = [=](Walk& walk, const Tree& input) {
    const Tensor y = retrace::max_pool2d(input.tensor(), pool, options, place);
    walk.keep_pool({y, input.tensor(), pool, options});
    return Tree(y);
  };
  return Layer("", pooled)
      .shown_as("max_pool2d")
      .with_options({{"size", size_value(pool)},
                     {"stride", stride_value(options.stride)},
                     {"padding", padding_value(options.padding)}});
}

LayerKind max_pool2d_layer() {
  return {.name = "max_pool2d",
          .help = "the maximum over a window that moves over the image",
          .options = {size_rule("size", "of the window: one number, or [height, width]", 2), pool_stride_rule(),
                      padding_rule("padding", "around the image")},
          .required = {"size"},
          .layer = [](const OptionValues& options) {
            return max_pool2d(pair_of(options, "size"),
                              {.stride = pool_stride_of(options), .padding = padding_of(options, "padding")});
          }};
}

}  // namespace retrace::nn
