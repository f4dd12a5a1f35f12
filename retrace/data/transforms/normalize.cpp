#include <fmt/format.h>

#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

// One number, or one for each channel, rounded to f32.
std::vector<float> rounded(const OptionValues& options, const char* name) {
  const auto& numbers = options.numbers(name);
  return {numbers.begin(), numbers.end()};
}

void check_count(const Tensor& input, const std::vector<float>& numbers, const char* name) {
  const Shape& shape = input.shape();
  const int64_t channels = shape.empty() ? 1 : shape.back();
  if (numbers.size() == 1 || static_cast<int64_t>(numbers.size()) == channels) return;
  throw Error(ErrorKind::usage, 348, fmt::format("transform \"normalize\": {} has {} numbers", name, numbers.size()))
      .got(input.spec().text())
      .expected(fmt::format("1 number, or {}: one for each channel, the last axis of the input", channels));
}

// (x - mean) / deviation, each operation rounded to f32.
Observation normalized(const Observation& observation, const std::vector<float>& mean,
                       const std::vector<float>& deviation) {
  const Tensor& input = observation.at(0);
  if (input.type() != DType::f32)
    throw Error(ErrorKind::usage, 346, "transform \"normalize\": the input is not f32").got(input.spec().text());
  check_count(input, mean, "normalize_mean");
  check_count(input, deviation, "normalize_deviation");
  std::vector<float> values = input.to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (values[i] - mean[i % mean.size()]) / deviation[i % deviation.size()];
  Observation result = observation;
  result[0] = Tensor::from(values, input.shape(), input.labels());
  return result;
}

}  // namespace

TransformKind normalize_transform() {
  return {.name = "normalize",
          .help = "normalize_mean is subtracted from the input, and the rest divided by normalize_deviation",
          .options = {{.name = "normalize_mean",
                       .help = "of the elements of inputs: one number, or a list with one for each channel",
                       .standard = std::vector<double>{0},
                       .low = -1e6,
                       .high = 1e6},
                      {.name = "normalize_deviation",
                       .help = "of the elements of inputs, a standard deviation: one number, or one for each channel",
                       .standard = std::vector<double>{1},
                       .high = 1e6,
                       .above_low = true}},
          .every_set = true,
          .make = [](const OptionValues& options) -> TransformFunction {
            return [mean = rounded(options, "normalize_mean"), deviation = rounded(options, "normalize_deviation")](
                       const Observation& observation, TransformContext&) {
              return normalized(observation, mean, deviation);
            };
          }};
}

}  // namespace retrace
