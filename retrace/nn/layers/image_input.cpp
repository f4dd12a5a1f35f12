#include "retrace/nn/layers/image_input.h"

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer image_input(const Shape& sample, Place place) {
  const auto check = [=](Walk&, const Tree& input) {
    const Tensor& x = input.tensor();
    bool fits = x.rank() == sample.rank() + 1;
    for (int i = 0; fits && i < sample.rank(); ++i) fits = x.shape()[i + 1] == sample[i];
    if (!fits)
      throw Error(ErrorKind::usage, 195, fmt::format("image_input: a sample is not {}", sample.text()))
          .where(place)
          .got(x.spec().text())
          .expected("a batch axis, then " + sample.text());
    return input;
  };
  return Layer("", check, sample).shown_as("image_input");
}

LayerKind image_input_layer() {
  return {.name = "image_input",
          .help = "checks the shape of a sample",
          .options = {{.name = "size",
                       .help = "[height, width, channels]",
                       .standard = std::vector<int64_t>{1, 1, 1},
                       .low = 1,
                       .high = 65'536}},
          .required = {"size"},
          .layer = [](const OptionValues& options) { return image_input(Shape(options.integers("size"))); }};
}

}  // namespace retrace::nn
