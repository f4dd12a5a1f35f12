#include "retrace/train/training_step.h"

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/optim/regularize.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"

namespace retrace {
namespace {

const SolverKind& solver_of(const TrainingOptions& options) {
  return kind_of(all_solvers(), options.solver, "solver", {});
}

// Those options that have a rule: a job's options are those of its solver and its schedule.
OptionValues only(const OptionValues& all, const std::vector<OptionRule>& rules) {
  OptionValues own;
  for (const auto& rule : rules)
    if (const OptionValue* value = all.find(rule.name)) own.set(rule.name, *value);
  return completed(own, rules, "the job");
}

}  // namespace

TrainingState TrainingState::to(Device& device) const {
  return {parameters.to(device), state.to(device), solver.to(device)};
}

TrainingState initial_training_state(const nn::Network& network, const TrainingOptions& options) {
  return {network.parameters, network.state, solver_of(options).initial(network.parameters)};
}

TrainingStep training_step(const Job& job, const nn::Network& network, Worker* worker) {
  const auto loss = [&network](const Tree& p, const Tensor& x, const Tree& targets, const Tree& state) {
    const auto [y, moments] = network.forward(x, p, state, Phase::train);
    return WithAux<Tree>{network.loss(y, targets), moments};
  };
  const auto gradient = value_and_grad(loss, {.shards = job.training.shards, .worker = worker, .seed = job.seed});
  const SolverKind& solver = solver_of(job.training);
  return [gradient, &solver, options = only(job.training.options, solver.options), l2 = job.training.l2_regularization](
             const TrainingState& before, const Tensor& x, const Tree& targets, const Operand& rate) {
    auto [value, gradients, moments] = gradient(before.parameters, x, targets, before.state);
    if (l2 != 0) gradients = l2_regularization(before.parameters, gradients, Tensor::full(l2, {}));
    auto made = solver.update(before.parameters, gradients, before.solver, rate, options);
    Tree state = moments.empty() ? before.state : update_statistics(before.state, moments);
    return StepResult{value, {std::move(made.parameters), std::move(state), std::move(made.state)}};
  };
}

LearnRate learn_rate(const TrainingOptions& options) {
  const ScheduleKind& schedule = kind_of(all_schedules(), options.schedule, "schedule", {});
  const double initial = options.initial_learn_rate.value_or(solver_of(options).learn_rate);
  return learn_rate(initial, {schedule.name, only(options.options, schedule.options)});
}

}  // namespace retrace
