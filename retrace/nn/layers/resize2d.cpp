#include "retrace/nn/layers/resize2d.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {
namespace {

OptionRule factor_rule(std::string_view name, std::string_view help) {
  return {.name = name, .help = help, .standard = 0.0, .low = 0, .high = 32'768};
}

Resize2dOptions resize_options(const OptionValues& options) {
  const double height = options.number("factor"), width = options.number("width_factor");
  return {.size = pair_of(options, "size"),
          .factor = {height, width == 0 ? height : width},
          .method = options.text("method"),
          .align_corners = options.truth("align_corners")};
}

}  // namespace

Layer resize2d(const Resize2dOptions& options, Place place) {
  const auto [height, width] = options.factor;
  return layer_of([=](const Tensor& x) { return retrace::resize2d(x, options, place); }, "resize2d")
      .with_options({{"size", size_value(options.size)},
                     {"factor", height},
                     {"width_factor", width == height ? 0 : width},
                     {"method", options.method},
                     {"align_corners", options.align_corners}});
}

LayerKind resize2d_layer() {
  return {.name = "resize2d",
          .help = "the image in another size",
          .options = {size_rule("size", "of the result: one number, or [height, width]; 0: by the factor", 0, 0),
                      factor_rule("factor", "of height and width"),
                      factor_rule("width_factor", "of the width; 0: that of the height"),
                      {.name = "method",
                       .help = "what a pixel is made of",
                       .standard = std::string("nearest"),
                       .choices = {"nearest", "bilinear"}},
                      {.name = "align_corners",
                       .help = "of bilinear: the outer pixels of input and result lie upon each other",
                       .standard = false}},
          .layer = [](const OptionValues& options) { return resize2d(resize_options(options)); }};
}

}  // namespace retrace::nn
