#include "retrace/nn/layers/patch_embedding.h"

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/conv2d/conv2d.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace::nn {
namespace {

void check_patches(const Tensor& x, Pair size, Place place) {
  check_image(x, "patch_embedding", place);
  if (size.y > 0 && size.x > 0 && x.shape()[1] % size.y == 0 && x.shape()[2] % size.x == 0) return;
  throw Error(ErrorKind::usage, 488,
              fmt::format("patch_embedding: patches of {} x {} do not fill the image", size.y, size.x))
      .where(place)
      .got(fmt::format("x {}", x.spec().text()))
      .expected("a height and a width that the patch divides")
      .help("resize the images, or choose another size");
}

}  // namespace

Layer patch_embedding(Pair size, int64_t features, const ParameterOptions& parameters, Place place) {
  return Layer("patch_embedding",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check_patches(x, size, place);
                 const Shape shape{size.y, size.x, x.shape()[3], features};
                 const Tensor weights = walk.parameter("weights", shape, conv2d_fans(shape), parameters.initializer);
                 const Tensor y =
                     retrace::conv2d(x, with_bias(walk, weights, parameters.bias, features), {.stride = size}, place);
                 const Shape sequence{y.shape()[0], y.shape()[1] * y.shape()[2], features};
                 return Tree(reshape(y, sequence, x.labels().empty() ? "" : "BTC", place));
               })
      .with_options(with_parameter_values({{"size", size_value(size)}, {"features", features}}, parameters));
}

LayerKind patch_embedding_layer() {
  return {.name = "patch_embedding",
          .help = "an image as a sequence of patches, each in a linear layer",
          .options = with_parameter_rules({size_rule("size", "of a patch: one number, or [height, width]", 16),
                                           count_rule("features", "numbers of each patch in the result")}),
          .required = {"size", "features"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return patch_embedding(pair_of(options, "size"), options.integer("features"), parameters_of(options));
          }};
}

}  // namespace retrace::nn
