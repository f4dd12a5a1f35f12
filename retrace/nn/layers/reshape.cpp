#include "retrace/nn/layers/reshape.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/sample_labels.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace::nn {

Layer reshape(const Shape& size, Place place) {
  const auto reshaped = [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    walk.refuse_mask("reshape", x, place);
    std::vector<int64_t> shape{x.shape()[0]};
    shape.insert(shape.end(), size.begin(), size.end());
    const Shape whole(shape, place);
    return Tree(retrace::reshape(x, whole, sample_labels(x, whole.rank()), place));
  };
  return Layer("", reshaped)
      .shown_as("reshape")
      .with_options({{"size", std::vector<int64_t>(size.begin(), size.end())}});
}

LayerKind reshape_layer() {
  return {.name = "reshape",
          .help = "the numbers of a sample under another shape",
          .options = {{.name = "size",
                       .help = "of a sample; one entry may be -1: what is left",
                       .standard = std::vector<int64_t>{-1},
                       .low = -1,
                       .high = 1e9}},
          .required = {"size"},
          .layer = [](const OptionValues& options) { return reshape(Shape(options.integers("size"))); }};
}

}  // namespace retrace::nn
