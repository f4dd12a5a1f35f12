#include "retrace/nn/layers/batch_norm.h"

namespace retrace::nn {

Layer batch_norm(const BatchNormOptions& options, Place place) {
  return Layer("batch_norm", [=](Walk& walk, const Tree& input) {
    const Tensor& x = input.tensor();
    const Shape channels{x.rank() == 0 ? 1 : x.shape().back()};
    const Tree parameters{{"scale", walk.parameter("scale", channels, {}, constant_values(1))},
                          {"offset", walk.parameter("offset", channels, {}, constant_values(0))}};
    const Tree state = walk.state(channels, {{"mean", constant_values(0)}, {"variance", constant_values(1)}});
    const auto result = retrace::batch_norm(x, parameters, state, walk.phase(), options, place);
    if (walk.phase() == Phase::train) walk.set_moments(result.moments);
    return Tree(result.y);
  });
}

}  // namespace retrace::nn
