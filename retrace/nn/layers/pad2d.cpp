#include "retrace/nn/layers/pad2d.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/pad/pad.h"

namespace retrace::nn {
namespace {

constexpr double kMostValue = 1e30;

Tensor padded(const Tensor& x, const Padding& padding, const Pad2dOptions& options, Place place) {
  check_image(x, "pad2d", place);
  if (padding.is_same)
    throw Error(ErrorKind::usage, 549, "pad2d: the padding \"same\" is that of a window")
        .where(place)
        .expected("one number, [height, width] or [top, bottom, left, right]");
  const auto margins = [&](int64_t before, int64_t after) {
    return PadMargins{.before = before, .after = after, .mode = options.mode, .value = options.value};
  };
  return pad(pad(x, 1, margins(padding.top, padding.bottom), place), 2, margins(padding.left, padding.right), place);
}

}  // namespace

Layer pad2d(const Padding& padding, const Pad2dOptions& options, Place place) {
  return layer_of([=](const Tensor& x) { return padded(x, padding, options, place); }, "pad2d")
      .with_options({{"padding", padding_value(padding)}, {"mode", options.mode}, {"value", options.value}});
}

LayerKind pad2d_layer() {
  return {
      .name = "pad2d",
      .help = "pixels around an image",
      .options =
          {{.name = "padding",
            .help = "one number, [height, width] or [top, bottom, left, right]",
            .standard = std::vector<int64_t>{1},
            .high = 65'536},
           {.name = "mode",
            .help = "what the pixels are made of",
            .standard = std::string("constant"),
            .choices = {"constant", "reflect", "replicate"}},
           {.name = "value", .help = "of the mode constant", .standard = 0.0, .low = -kMostValue, .high = kMostValue}},
      .required = {"padding"},
      .layer = [](const OptionValues& options) {
        return pad2d(padding_of(options, "padding"), {.mode = options.text("mode"), .value = options.number("value")});
      }};
}

}  // namespace retrace::nn
