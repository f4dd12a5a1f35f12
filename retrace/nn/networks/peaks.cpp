#include "retrace/nn/network_kind.h"

namespace retrace::nn {
namespace {

// 2-20-5-1 with relu: 171 numbers.
Layer layers_peaks(const NetworkOptions& options) {
  const int64_t width = *options.width;
  return Sequential{linear(width), relu(), linear(width / 4), relu(), parallel({{"value", linear(1)}})};
}

}  // namespace

NetworkKind peaks_network() {
  return {.name = "peaks",
          .help = "the height of a surface at a point: linear layers of width, width / 4 and 1",
          .sample = {2},
          .outputs = {{.name = "value", .kind = OutputKind::values, .loss = "mean-squared-error", .metric = "rmse"}},
          .source = "peaks",
          .width = 20,
          .least_width = 4,
          .layers = layers_peaks};
}

}  // namespace retrace::nn
