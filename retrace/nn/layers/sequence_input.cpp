#include "retrace/nn/layers/sequence_input.h"

#include "retrace/nn/normalization_rules.h"
#include "retrace/nn/sequence_rules.h"
#include "retrace/ops/isfinite/isfinite.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/where/where.h"

namespace retrace::nn {
namespace {

void check_normalize_by(NormalizeBy by, Place place) {
  if (by != NormalizeBy::element) return;
  throw Error(ErrorKind::usage, 404, "sequence_input: series have no statistics of an element")
      .where(place)
      .expected("NormalizeBy::channel, statistics of each feature, or NormalizeBy::all");
}

}  // namespace

Layer sequence_input(const SequenceInputOptions& options, Place place) {
  constexpr const char* name = "sequence_input";
  check_normalize_by(options.by, place);
  const bool normalises = options.normalization != Normalization::none;
  const Layer layer(normalises ? name : "", [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    check_sequence(x, name, place);
    const Tree own = normalises ? walk.statistics(x, options.normalization, options.by, Padded::nan) : Tree();
    const Tensor missing = isnan(x, place);
    const Tensor first = select(missing, 2, 0, place);
    walk.set_mask(logical_not(reshape(first, first.shape(), "", place), place));
    const Tensor y = own.empty() ? x : (x - own["offset"]) / own["scale"];
    return Tree(where(missing, constant_like(x, 0), y, place));
  });
  return (normalises ? layer : layer.shown_as(name))
      .with_options({{"normalization", text_of(options.normalization)}, {"normalization_by", text_of(options.by)}});
}

LayerKind sequence_input_layer() {
  return {.name = "sequence_input",
          .help =
              "the start of a network for series of different lengths, whose padding is NaN; normalises them by "
              "statistics of the training data",
          .options = {normalization_rule(), normalization_by_rule({NormalizeBy::channel, NormalizeBy::all})},
          .layer = [](const OptionValues& options) {
            return sequence_input({normalization_of(options), normalize_by_of(options)}, Place());
          }};
}

}  // namespace retrace::nn
