#include "retrace/nn/parameters.h"

#include <fmt/format.h>

namespace retrace::nn {

void check_image(const Tensor& x, const char* layer, Place place) {
  if (x.rank() == 4) return;
  throw Error(ErrorKind::usage, 194, fmt::format("{}: x has {} axes", layer, x.rank()))
      .where(place)
      .got(x.spec().text())
      .expected("an image [batch,height,width,channels]")
      .help("put this layer before those that make features, such as linear, and take data of images");
}

Tree with_bias(Walk& walk, const Tensor& weights, bool bias, int64_t outputs) {
  Tree layer{{"weights", weights}};
  if (bias) layer["bias"] = walk.parameter("bias", {outputs}, {}, constant_values(0));
  return layer;
}

}  // namespace retrace::nn
