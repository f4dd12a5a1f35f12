#include "retrace/nn/layers/dropout.h"

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {
namespace {

// With samples along the first axis.
Tensor dropped(const Tensor& x, double probability, const DropoutOptions& options, Place place) {
  if (!x.labels().empty() || x.rank() == 0) return retrace::dropout(x, probability, options, place);
  std::string labels(static_cast<size_t>(x.rank()), options.whole_channels ? 'S' : 'U');
  labels.front() = 'B';
  if (options.whole_channels && x.rank() > 1) labels.back() = 'C';
  const Tensor y = retrace::dropout(reshape(x, x.shape(), labels, place), probability, options, place);
  return reshape(y, x.shape(), "", place);
}

}  // namespace

Layer dropout(double probability, const DropoutOptions& options, Place place) {
  const Layer layer("", [=](Walk& walk, const Tree& x) {
    return walk.phase() == Phase::train ? Tree(dropped(x.tensor(), probability, options, place)) : x;
  });
  return layer.shown_as("dropout").with_options(
      {{"probability", probability}, {"whole_channels", options.whole_channels}});
}

LayerKind dropout_layer() {
  return {.name = "dropout",
          .help = "in training each number becomes 0 with the probability, and the others grow; in inference x",
          .options = {{.name = "probability", .help = "that a number becomes 0", .standard = 0.5, .high = 1},
                      {.name = "whole_channels", .help = "one draw for all of a channel", .standard = false}},
          .layer = [](const OptionValues& options) {
            return dropout(options.number("probability"), {.whole_channels = options.truth("whole_channels")});
          }};
}

}  // namespace retrace::nn
