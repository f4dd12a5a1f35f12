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

Layer image_input(Place place) {
  const auto check = [=](Walk&, const Tree& input) {
    const Tensor& x = input.tensor();
    if (x.rank() != 4)
      throw Error(ErrorKind::usage, 195, "image_input: a sample is no image")
          .where(place)
          .got(x.spec().text())
          .expected("a batch axis, then [height,width,channels]");
    return input;
  };
  return Layer("", check).shown_as("image_input");
}

LayerKind image_input_layer() {
  return {.name = "image_input",
          .help = "checks the shape of a sample",
          .options = {{.name = "size",
                       .help = "[height, width, channels]; without it those of the data",
                       .standard = std::vector<int64_t>{},
                       .low = 1,
                       .high = 65'536}},
          .layer = [](const OptionValues& options) {
            const auto& size = options.integers("size");
            return size.empty() ? image_input() : image_input(Shape(size));
          }};
}

}  // namespace retrace::nn
