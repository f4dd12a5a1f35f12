#include "retrace/nn/layers/sinusoidal_position_encoding.h"

#include <fmt/format.h>

#include <cmath>

#include "retrace/base/double_math.h"
#include "retrace/base/fp_environment.h"
#include "retrace/nn/layer_kind.h"
#include "retrace/nn/sequence_rules.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/cast/cast.h"

namespace retrace::nn {
namespace {

// [length,features] on the device of x.
Tensor waves_for(const Tensor& x, double base, Place place) {
  const FloatingPointScope floating_point;
  const int64_t length = x.shape()[1], features = x.shape()[2];
  std::vector<double> rates, waves;
  for (int64_t i = 0; i < features; ++i)
    rates.push_back(double_math::pow(base, -static_cast<double>(i - i % 2) / static_cast<double>(features)));
  for (int64_t t = 0; t < length; ++t)
    for (size_t i = 0; i < rates.size(); ++i) {
      const double angle = static_cast<double>(t) * rates[i];
      waves.push_back(i % 2 ? double_math::cos(angle) : double_math::sin(angle));
    }
  const Tensor rows = x.type() == DType::f64
                          ? Tensor::from(waves, {length, features}, "", place)
                          : Tensor::from(std::vector<float>(waves.begin(), waves.end()), {length, features}, "", place);
  return rows.to(x.device(), place);
}

}  // namespace

Layer sinusoidal_position_encoding(double base, Place place) {
  if (!std::isfinite(base) || base <= 0)
    throw Error(ErrorKind::usage, 489, fmt::format("sinusoidal_position_encoding: the base is {}", base))
        .where(place)
        .expected("a finite number above 0");
  return Layer("",
               [=](Walk&, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check_sequence(x, "sinusoidal_position_encoding", place);
                 return Tree(add(x, waves_for(x, base, place), place));
               })
      .shown_as("sinusoidal_position_encoding")
      .with_options({{"base", base}});
}

LayerKind sinusoidal_position_encoding_layer() {
  return {.name = "sinusoidal_position_encoding",
          .help = "adds sines and cosines of its place to each position of a sequence",
          .options = {{.name = "base",
                       .help = "how much slower the last wave is than the first",
                       .standard = 10000.0,
                       .high = 1e12,
                       .above_low = true}},
          .layer = [](const OptionValues& options) { return sinusoidal_position_encoding(options.number("base")); }};
}

}  // namespace retrace::nn
