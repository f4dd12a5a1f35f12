#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

// Each element of the input in turn becomes 0 if u < share / 2, else 1 if u < share, with a uniform number u of its
// own.
Observation with_noise_salt_and_pepper(const Observation& observation, TransformContext& context, double share) {
  std::vector<float> values = observation.at(0).to_vector<float>();
  for (float& value : values) {
    const double u = context.random.uniform();
    if (u < share) value = u < share / 2 ? 0.0f : 1.0f;
  }
  Observation noisy = observation;
  noisy[0] = Tensor::from(values, observation[0].shape(), observation[0].labels());
  return noisy;
}

}  // namespace

TransformKind salt_and_pepper_transform() {
  return {.name = "salt-and-pepper",
          .help = "elements of the input become 0 or 1, anew in each epoch",
          .options = {{.name = "noise_share", .help = "of the elements, on average", .standard = 0.05, .high = 1}},
          .make = [](const OptionValues& options) -> TransformFunction {
            return [share = options.number("noise_share")](const Observation& observation, TransformContext& context) {
              return with_noise_salt_and_pepper(observation, context, share);
            };
          }};
}

}  // namespace retrace
