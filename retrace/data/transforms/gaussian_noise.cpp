#include <cmath>

#include "retrace/base/double_math.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

constexpr double kTurn = 0x1.921fb54442d18p2;  // 2 pi

// To elements 2i and 2i + 1 of the input come deviation * r cos(a) and deviation * r sin(a), with
// r = sqrt(-2 log(1 - u)) and a = 2 pi v of two uniform numbers: all in binary64, the sum rounded to f32.
Observation with_noise_gaussian_noise(const Observation& observation, RandomStream& random, double deviation) {
  const Tensor& input = observation.at(0);
  if (input.type() != DType::f32)
    throw Error(ErrorKind::usage, 374, "transform \"gaussian-noise\": the input is not f32").got(input.spec().text());
  std::vector<float> values = input.to_vector<float>();
  for (size_t i = 0; i < values.size(); i += 2) {
    const double u = random.uniform(), v = random.uniform();
    const double r = std::sqrt(-2 * double_math::log(1 - u)), a = kTurn * v;
    values[i] = static_cast<float>(values[i] + deviation * (r * double_math::cos(a)));
    if (i + 1 < values.size())
      values[i + 1] = static_cast<float>(values[i + 1] + deviation * (r * double_math::sin(a)));
  }
  Observation noisy = observation;
  noisy[0] = Tensor::from(values, input.shape(), input.labels());
  return noisy;
}

}  // namespace

TransformKind gaussian_noise_transform() {
  return {.name = "gaussian-noise",
          .help = "normal numbers of the standard deviation noise_deviation are added to the input, anew in each epoch",
          .options = {{.name = "noise_deviation", .help = "of the noise", .standard = 0.1, .high = 1e6}},
          .make = [](const OptionValues& options) -> TransformFunction {
            return [deviation = options.number("noise_deviation")](const Observation& observation,
                                                                   TransformContext& context) {
              return with_noise_gaussian_noise(observation, context.random, deviation);
            };
          }};
}

}  // namespace retrace
