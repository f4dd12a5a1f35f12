#include "retrace/optim/solver.h"

#include "retrace/base/fp_environment.h"
#include "retrace/ops/sgdm/sgdm_op.h"
#include "retrace/optim/update_trees.h"

namespace retrace {

SgdmUpdate sgdm_update(const Tree& parameters, const Tree& gradients, const SgdmState& state,
                       const SgdmOptions& options, Place place) {
  const FloatingPointScope floating_point;
  check_decay("sgdm_update", "momentum", options.momentum, place);
  check_rate("sgdm_update", "learn_rate", options.learn_rate, place);
  check_gradients("sgdm_update", parameters, gradients, place);
  auto weights = leaf_tensors(parameters);
  auto velocity = state_leaves("sgdm_update", "velocity", parameters, state.velocity, place);
  const auto gradient = leaf_tensors(gradients);
  Number rate(options.learn_rate), momentum(static_cast<float>(options.momentum));  // of f32
  for (size_t i = 0; i < weights.size(); ++i) {
    const DType type = weights[i].type();
    const Tensor part = type == DType::f64 ? Tensor::full(options.momentum, {}, type) : momentum.as(type);
    const auto step = sgdm(weights[i], gradient[i], velocity[i], rate.as(type), part, place);
    weights[i] = step.weights, velocity[i] = step.velocity;
  }
  return {with_leaves(parameters, weights), {with_leaves(parameters, velocity)}};
}

Tree to_tree(const SgdmState& state) { return {{"velocity", state.velocity}}; }
SgdmState sgdm_state(const Tree& tree) { return {tree["velocity"]}; }

}  // namespace retrace
