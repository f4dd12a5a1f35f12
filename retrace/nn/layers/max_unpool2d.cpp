#include "retrace/nn/layers/max_unpool2d.h"

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {
namespace {

[[noreturn]] void refuse_max_unpool2d(const char* message, const std::vector<Tensor>& inputs, const char* expected,
                                      Place place) {
  std::string got;
  for (const Tensor& x : inputs) got += (got.empty() ? "" : ", ") + x.spec().text();
  throw Error(ErrorKind::usage, 439, fmt::format("max_unpool2d: {}", message))
      .where(place)
      .got(got)
      .expected(expected)
      .help("give the max_pool2d layer a name, and take it by this name: {type = \"max_unpool2d\", from = \"NAME\"}");
}

}  // namespace

Layer max_unpool2d(Place place) {
  const auto back = [place](Walk& walk, const Tree& input) {
    const auto inputs = leaf_tensors(input);
    const Walk::Pool* pool = inputs.size() == 2 ? walk.pool_of(inputs[1]) : nullptr;
    if (!pool)
      refuse_max_unpool2d("what it takes was made by no max_pool2d layer", inputs,
                          "an image, and behind it the output of a max_pool2d layer itself", place);
    if (inputs[0].shape() != inputs[1].shape())
      refuse_max_unpool2d("the image has another shape than the max_pool2d layer made", inputs, "equal shapes", place);
    const Tensor index = max_pool2d_with_index(pool->x, pool->size, pool->options, place).index;
    const Shape& whole = pool->x.shape();
    return Tree(retrace::max_unpool2d(inputs[0], index, {whole[1], whole[2]}, place));
  };
  return Layer("", back).shown_as("max_unpool2d").with_options({});
}

LayerKind max_unpool2d_layer() {
  return {.name = "max_unpool2d",
          .help = "the numbers of an image where the maxima of a max_pool2d layer stood, and zeros",
          .joins = true,
          .layer = [](const OptionValues&) { return max_unpool2d(); }};
}

}  // namespace retrace::nn
