#include "retrace/train/training_step.h"

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/optim/regularize.h"

namespace retrace {
namespace {

Tree zeros_like(const Tree& tree) {
  return map(tree, [](const Tensor& tensor) { return Tensor::zeros(tensor.shape(), tensor.type()); });
}

// The parameters and the solver's own values after the step.
TrainingState update(const TrainingOptions& options, const TrainingState& before, const Tree& gradients,
                     const Operand& rate) {
  const Tree regular = options.l2_regularization == 0 ? gradients
                                                      : l2_regularization(before.parameters, gradients,
                                                                          Tensor::full({}, options.l2_regularization));
  if (options.solver == "sgdm") {
    auto made = sgdm_update(before.parameters, regular, before.sgdm,
                            {.learn_rate = rate, .momentum = static_cast<float>(options.momentum)});
    return {std::move(made.parameters), {}, {}, std::move(made.state)};
  }
  auto made = adam_update(before.parameters, regular, before.adam,
                          {.learn_rate = rate,
                           .gradient_decay = static_cast<float>(options.gradient_decay_factor),
                           .squared_gradient_decay = static_cast<float>(options.squared_gradient_decay_factor),
                           .epsilon = static_cast<float>(options.epsilon)});
  return {std::move(made.parameters), {}, std::move(made.state), {}};
}

}  // namespace

TrainingState TrainingState::to(Device& device) const {
  const auto moved = [&](const Tensor& tensor) { return tensor.defined() ? tensor.to(device) : tensor; };
  return {parameters.to(device),
          state.to(device),
          {adam.mean.to(device), adam.mean_square.to(device), moved(adam.step)},
          {sgdm.velocity.to(device)}};
}

TrainingState initial_training_state(const nn::Network& network, const TrainingOptions& options) {
  const Tree zeros = zeros_like(network.parameters);
  TrainingState start{network.parameters, network.state, {}, {}};
  if (options.solver == "sgdm")
    start.sgdm = {zeros};
  else
    start.adam = {zeros, zeros, Tensor::scalar(int32_t{0})};
  return start;
}

TrainingStep training_step(const Job& job, const nn::Network& network, Worker* worker) {
  const auto loss = [&network](const Tree& p, const Tensor& x, const Tree& targets, const Tree& state) {
    const auto [y, moments] = network.model(p, x, state, Phase::train);
    return WithAux<Tree>{network.loss(y, targets), moments};
  };
  const auto gradient = value_and_grad(loss, {.shards = job.training.shards, .worker = worker, .seed = job.seed});
  return [gradient, options = job.training](const TrainingState& before, const Tensor& x, const Tree& targets,
                                            const Operand& rate) {
    const auto [value, gradients, moments] = gradient(before.parameters, x, targets, before.state);
    TrainingState after = update(options, before, gradients, rate);
    after.state = moments.empty() ? before.state : update_statistics(before.state, moments);
    return StepResult{value, std::move(after)};
  };
}

float learn_rate(const TrainingOptions& options, int64_t iteration, int64_t iterations, int epoch) {
  double rate = options.initial_learn_rate.value_or(default_learn_rate(options));
  if (options.schedule == "linear") rate *= 1.0 - static_cast<double>(iteration) / static_cast<double>(iterations);
  if (options.schedule == "piecewise")
    for (int drop = options.drop_period; drop < epoch; drop += options.drop_period) rate *= options.drop_factor;
  return static_cast<float>(rate);
}

}  // namespace retrace
