#include "retrace/nn/layers/adaptive_max_pool1d.h"

#include "retrace/nn/sequence_rules.h"

namespace retrace::nn {

Layer adaptive_max_pool1d(int64_t size, Place place) {
  const auto pooled = [=](Walk& walk, const Tree& input) {
    walk.refuse_mask("adaptive_max_pool1d", input.tensor(), place);
    return Tree(retrace::adaptive_max_pool1d(input.tensor(), size, place));
  };
  return Layer("", pooled).shown_as("adaptive_max_pool1d").with_options({{"size", size}});
}

LayerKind adaptive_max_pool1d_layer() {
  return {.name = "adaptive_max_pool1d",
          .help = "the maxima of windows, so many that the result has a given size",
          .options = {length_rule("size", "of the result", 1)},
          .required = {"size"},
          .layer = [](const OptionValues& options) { return adaptive_max_pool1d(options.integer("size")); }};
}

}  // namespace retrace::nn
