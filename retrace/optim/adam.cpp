#include "retrace/optim/solver.h"

#include "retrace/base/fp_environment.h"
#include "retrace/ops/adam/adam_op.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

AdamNumbers numbers_of(const AdamOptions& options, const Tensor& rate, const Tensor& step, Place place) {
  const DType type = rate.type();
  const auto number = [&](double value) { return Tensor::full(value, {}, type); };
  const Tensor t = cast(step, type, place);
  const double b1 = rounded_to(type, options.gradient_decay), b2 = rounded_to(type, options.squared_gradient_decay);
  return {.rate = divide(rate, one_minus_power(b1, t, place), place),
          .root = sqrt(one_minus_power(b2, t, place), place),
          .decay = number(b1),
          .rest = number(1 - b1),
          .square_decay = number(b2),
          .square_rest = number(1 - b2),
          .epsilon = number(options.epsilon)};
}

void check_options(const AdamOptions& options, Place place) {
  check_decay("adam_update", "gradient_decay", options.gradient_decay, place);
  check_decay("adam_update", "squared_gradient_decay", options.squared_gradient_decay, place);
  check_rate("adam_update", "learn_rate", options.learn_rate, place);
  check_rate("adam_update", "epsilon", options.epsilon, place);
}

}  // namespace

AdamUpdate adam_update(const Tree& parameters, const Tree& gradients, const AdamState& state,
                       const AdamOptions& options, Place place) {
  const FloatingPointScope floating_point;
  check_options(options, place);
  check_gradients("adam_update", parameters, gradients, place);
  auto weights = leaf_tensors(parameters);
  auto mean = state_leaves("adam_update", "mean", parameters, state.mean, place);
  auto mean_square = state_leaves("adam_update", "mean_square", parameters, state.mean_square, place);
  const auto gradient = leaf_tensors(gradients);
  const Tensor step = next_step(state.step, place);
  Number rate(options.learn_rate);
  AdamNumbers numbers[2];
  for (size_t i = 0; i < weights.size(); ++i) {
    const DType type = weights[i].type();
    auto& own = numbers[type == DType::f64];
    if (!own.rate.defined()) own = numbers_of(options, rate.as(type), step, place);
    const auto made = adam(weights[i], gradient[i], mean[i], mean_square[i], own, place);
    weights[i] = made.weights, mean[i] = made.mean, mean_square[i] = made.mean_square;
  }
  return {with_leaves(parameters, weights),
          {with_leaves(parameters, mean), with_leaves(parameters, mean_square), step}};
}

AdamState AdamState::to(DeviceRef device, Place place) const {
  return {mean.to(device, place), mean_square.to(device, place), step.defined() ? step.to(device, place) : step};
}

Tree to_tree(const AdamState& state) {
  Tree tree{{"mean", state.mean}, {"mean_square", state.mean_square}};
  if (state.step.defined()) tree["step"] = state.step;
  return tree;
}

AdamState adam_state(const Tree& tree) {
  return {tree["mean"], tree["mean_square"], tree.contains("step") ? tree["step"].tensor() : Tensor()};
}

}  // namespace retrace
