#include "retrace/nn/layers/position_embedding.h"

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/slice/slice.h"

namespace retrace::nn {

Layer position_embedding(int64_t length, const Initializer& initializer, Place place) {
  return Layer("position_embedding",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 if (x.rank() != 3 || x.shape()[1] > length)
                   throw Error(ErrorKind::usage, 214,
                               fmt::format("position_embedding: x does not fit {} positions", length))
                       .where(place)
                       .got(fmt::format("x {}", x.spec().text()))
                       .expected("[batch,length,features] with at most as many positions");
                 const int64_t own = x.shape()[1], features = x.shape()[2];
                 const Tensor weights =
                     walk.parameter("weights", {length, features}, {features, features}, initializer);
                 return Tree(add(x, own == length ? weights : slice(weights, 0, {0, own}, place), place));
               })
      .with_options(with_initializer_value({{"length", length}}, initializer));
}

LayerKind position_embedding_layer() {
  return {.name = "position_embedding",
          .help = "adds a learnt row to each position of a sequence",
          .options = {count_rule("length", "positions that a sequence has at most"), initializer_rule()},
          .required = {"length"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return position_embedding(options.integer("length"), initializer_of(options));
          }};
}

}  // namespace retrace::nn
