#include "retrace/nn/network_kind.h"

namespace retrace::nn {
namespace {

// Two residual branches after a first convolution. Entries: conv2d_1 to conv2d_3, conv2d_skip, each with its
// batch_norm, class, angle: 84,075 numbers with both heads.
Layer layers_digits(const NetworkOptions& options) {
  const int64_t width = *options.width;
  const Sequential main{conv2d(3, 2 * width, {.stride = 2, .padding = same}), batch_norm(), relu(),
                        conv2d(3, 2 * width, {.padding = same}), batch_norm()};
  const Sequential skip{conv2d(1, 2 * width, {.stride = 2}).named("conv2d_skip"),
                        batch_norm().named("batch_norm_skip")};
  std::vector<std::pair<std::string, Layer>> heads{{"class", Sequential{linear(10).named("class"), softmax()}}};
  if (has_head(options, "angle")) heads.emplace_back("angle", linear(1).named("angle"));
  return Sequential{
      conv2d(5, width, {.padding = same}), batch_norm(), relu(), residual(main, skip), relu(), parallel(heads)};
}

}  // namespace

NetworkKind digits_network() {
  return {.name = "digits",
          .help = "class and angle of a digit: convolutions with a residual branch, and two heads",
          .sample = {28, 28, 1},
          .outputs = {{.name = "class"},
                      {.name = "angle",
                       .kind = OutputKind::values,
                       .loss = "half-mean-squared-error",
                       .weight = 0.1,
                       .metric = "rmse"}},
          .source = "digits",
          .width = 16,
          .layers = layers_digits};
}

}  // namespace retrace::nn
