#include "retrace/train/training_step.h"

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/optim/regularize.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/train/parameter_groups.h"

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

// What a step needs to change parameters by their gradients.
struct Update {
  const SolverKind& solver;
  OptionValues options;
  double l2 = 0;
  std::vector<ParameterGroup> groups = {};

  SolverUpdate all(const TrainingState& before, Tree gradients, const Operand& rate) const {
    if (!groups.empty()) return by_group(before, gradients, rate);
    if (l2 != 0) gradients = l2_regularization(before.parameters, gradients, Tensor::full(l2, {}));
    return solver.update(before.parameters, gradients, before.solver, rate, options);
  }

  // Each group as if it were alone, with a rate of its own; what is in none stays as it is.
  SolverUpdate by_group(const TrainingState& before, const Tree& gradients, const Operand& rate) const {
    SolverUpdate made{before.parameters, {}};
    for (const auto& group : groups) {
      const Tree parameters = group.of(before.parameters);
      Tree own = group.of(gradients);
      const double factor = l2 * group.l2;
      if (factor != 0) own = l2_regularization(parameters, own, Tensor::full(factor, {}));
      const Operand own_rate =
          group.learn_rate == 1 ? rate : Operand(rate.as(DType::f32) * Tensor::full(group.learn_rate, {}));
      const auto updated = solver.update(parameters, own, before.solver[group.name], own_rate, options);
      made.parameters = group.put(made.parameters, updated.parameters);
      made.state[group.name] = updated.state;
    }
    return made;
  }
};

}  // namespace

TrainingState TrainingState::to(Device& device) const {
  return {parameters.to(device), state.to(device), solver.to(device)};
}

TrainingState initial_training_state(const nn::Network& network, const TrainingOptions& options) {
  const SolverKind& solver = solver_of(options);
  const auto groups = parameter_groups(network);
  if (groups.empty()) return {network.parameters, network.state, solver.initial(network.parameters)};
  Tree states;
  for (const auto& group : groups) states[group.name] = solver.initial(group.of(network.parameters));
  return {network.parameters, network.state, states};
}

TrainingStep training_step(const Job& job, const nn::Network& network, Worker* worker) {
  const auto loss = [&network](const Tree& p, const Tensor& x, const Tree& targets, const Tree& state) {
    const auto [y, moments] = network.forward(x, p, state, Phase::train);
    return WithAux<Tree>{network.loss(y, targets), moments};
  };
  const auto gradient = value_and_grad(loss, {.shards = job.training.shards, .worker = worker, .seed = job.seed});
  const SolverKind& solver = solver_of(job.training);
  const Update update{solver, only(job.training.options, solver.options), job.training.l2_regularization,
                      parameter_groups(network)};
  return [gradient, update](const TrainingState& before, const Tensor& x, const Tree& targets, const Operand& rate) {
    auto [value, gradients, moments] = gradient(before.parameters, x, targets, before.state);
    auto made = update.all(before, gradients, rate);
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
