#include "retrace/nn/layers/embedding.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {

Layer embedding(int64_t vocabulary, int64_t features, const Initializer& initializer, Place place) {
  return Layer("embedding",
               [=](Walk& walk, const Tree& x) {
                 const Tensor table =
                     walk.parameter("weights", {vocabulary, features}, {features, features}, initializer);
                 return Tree(retrace::embedding(x.tensor(), table, place));
               })
      .with_options(with_initializer_value({{"vocabulary", vocabulary}, {"features", features}}, initializer));
}

LayerKind embedding_layer() {
  return {.name = "embedding",
          .help = "a row of a table for each class number, which is learnt",
          .options = {count_rule("vocabulary", "class numbers, from 0"), count_rule("features", "of each class number"),
                      initializer_rule()},
          .required = {"vocabulary", "features"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return embedding(options.integer("vocabulary"), options.integer("features"), initializer_of(options));
          }};
}

}  // namespace retrace::nn
