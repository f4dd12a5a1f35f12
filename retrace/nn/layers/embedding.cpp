#include "retrace/nn/layers/embedding.h"

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace::nn {
namespace {

// False where x is padding, bool [batch,length].
Tensor mask_of_tokens(const Tensor& x, int64_t padding, Place place) {
  if (x.rank() != 2)
    throw Error(ErrorKind::usage, 249, fmt::format("embedding: x has {} axes, and a padding_token", x.rank()))
        .where(place)
        .got(x.spec().text())
        .expected("samples of token numbers, [batch,length]");
  const Tensor tokens = reshape(x, x.shape(), "", place);
  return not_equal(tokens, constant_like(tokens, static_cast<double>(padding)), place);
}

}  // namespace

Layer embedding(int64_t vocabulary, int64_t features, const EmbeddingOptions& options, const Initializer& initializer,
                Place place) {
  return Layer("embedding",
               [=](Walk& walk, const Tree& x) {
                 const Tensor table =
                     walk.parameter("weights", {vocabulary, features}, {features, features}, initializer);
                 if (options.padding_token >= 0)
                   walk.set_mask(mask_of_tokens(x.tensor(), options.padding_token, place));
                 return Tree(retrace::embedding(x.tensor(), table, place));
               })
      .with_options(with_initializer_value(
          {{"vocabulary", vocabulary}, {"features", features}, {"padding_token", options.padding_token}}, initializer));
}

Layer embedding(int64_t vocabulary, int64_t features, const Initializer& initializer, Place place) {
  return embedding(vocabulary, features, EmbeddingOptions(), initializer, place);
}

LayerKind embedding_layer() {
  return {.name = "embedding",
          .help = "a row of a table for each class number, which is learnt",
          .options = {count_rule("vocabulary", "class numbers, from 0"),
                      count_rule("features", "of each class number"),
                      {.name = "padding_token",
                       .help = "the class number of padding, which later layers leave out; -1: none",
                       .standard = int64_t{-1},
                       .low = -1,
                       .high = 1 << 24},
                      initializer_rule()},
          .required = {"vocabulary", "features"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return embedding(options.integer("vocabulary"), options.integer("features"),
                             {.padding_token = options.integer("padding_token")}, initializer_of(options));
          }};
}

}  // namespace retrace::nn
