#include <fmt/format.h>

#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

// (x - mean) / deviation, each operation rounded to f32.
Observation normalized(const Observation& observation, float mean, float deviation) {
  if (observation.at(0).type() != DType::f32)
    throw Error(ErrorKind::usage, 346, "transform \"normalize\": the input is not f32")
        .got(observation[0].spec().text());
  std::vector<float> values = observation[0].to_vector<float>();
  for (float& value : values) value = (value - mean) / deviation;
  Observation result = observation;
  result[0] = Tensor::from(values, observation[0].shape(), observation[0].labels());
  return result;
}

}  // namespace

TransformKind normalize_transform() {
  return {
      .name = "normalize",
      .help = "normalize_mean is subtracted from the input, and the rest divided by normalize_deviation",
      .options =
          {{.name = "normalize_mean", .help = "of the elements of inputs", .standard = 0.0, .low = -1e6, .high = 1e6},
           {.name = "normalize_deviation",
            .help = "of the elements of inputs, a standard deviation",
            .standard = 1.0,
            .high = 1e6,
            .above_low = true}},
      .every_set = true,
      .make = [](const OptionValues& options) -> TransformFunction {
        return
            [mean = static_cast<float>(options.number("normalize_mean")),
             deviation = static_cast<float>(options.number("normalize_deviation"))](
                const Observation& observation, TransformContext&) { return normalized(observation, mean, deviation); };
      }};
}

}  // namespace retrace
