#include "retrace/train/training_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/autodiff/gradient.h"
#include "retrace/autodiff/value_and_grad.h"
#include "retrace/base/joined.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/nn/network_text.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/vmap/vmap.h"
#include "retrace/optim/full_batch.h"
#include "retrace/optim/regularize.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/optim/update_trees.h"

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

Clip clip_method(const TrainingOptions& options) {
  if (options.gradient_threshold_method == "global-l2norm") return Clip::global_l2_norm;
  return options.gradient_threshold_method == "l2norm" ? Clip::l2_norm : Clip::absolute_value;
}

// The parts of the parameters that are trained alike, by the factors of their layers and by groups; none: all are.
std::vector<ParameterPart> parts_of(const TrainingOptions& options, const nn::Network& network, Place place = {}) {
  if (network.factors.empty() && options.groups.empty()) return {};
  auto all = leaf_training(network.parameters, options.groups, place);
  const auto named = leaves(network.parameters);
  for (size_t i = 0; i < named.size(); ++i) {
    const std::string layer = named[i].first.substr(0, named[i].first.rfind('/'));
    for (const auto& factors : network.factors) {
      if (factors.path != layer) continue;
      all[i].learn_rate *= factors.learn_rate, all[i].l2 *= factors.l2;
      all[i].frozen = all[i].frozen || factors.frozen;
    }
  }
  const auto has_rate = [](const LeafTraining& leaf) { return leaf.learn_rate != 1; };
  if (solver_of(options).step_on_all && std::any_of(all.begin(), all.end(), has_rate))
    throw Error(ErrorKind::usage, 466,
                fmt::format("learn_rate_factor has no meaning with solver \"{}\"", options.solver))
        .where(place)
        .help("remove it");
  return parameter_parts(all, place);
}

// What a step needs to change parameters by their gradients: L2 is added, then they are clipped, then the solver steps.
struct Update {
  SolverOfParts solver;
  double l2 = 0, threshold = 0;
  Clip method = Clip::l2_norm;

  SolverUpdate all(const TrainingState& before, Tree gradients, const Operand& rate) const {
    if (!solver.parts.empty()) return by_part(before, gradients, rate);
    if (l2 != 0) gradients = l2_regularization(before.parameters, gradients, Tensor::full(l2, {}));
    return solver.update(before.parameters, clipped(gradients), before.solver, rate);
  }

  // A norm of all gradients is that of all parts; what is in none stays as it is.
  SolverUpdate by_part(const TrainingState& before, Tree gradients, const Operand& rate) const {
    for (const auto& part : solver.parts) {
      const double factor = l2 * part.how.l2;
      if (factor == 0) continue;
      const Tree parameters = part.of(before.parameters);
      gradients = part.put(gradients, l2_regularization(parameters, part.of(gradients), Tensor::full(factor, {})));
    }
    const ParameterPart trained = all_of(solver.parts);
    gradients = trained.put(gradients, clipped(trained.of(gradients)));
    return solver.update(before.parameters, gradients, before.solver, rate);
  }

  Tree clipped(const Tree& gradients) const {
    return threshold > 0 ? clip_gradients(gradients, Tensor::full(threshold, {}), method) : gradients;
  }
};

Update update_of(const TrainingOptions& options, const nn::Network& network) {
  return {.solver = solver_of_parts(options, network),
          .l2 = options.l2_regularization,
          .threshold = options.gradient_threshold,
          .method = clip_method(options)};
}

constexpr int64_t kMostSquared = 10'000;

void check_squares(const nn::Network& network, Place place) {
  const auto is_squares = [](const nn::NetworkOutput& output) {
    const auto* loss = find_kind(nn::all_losses(), output.loss);
    return loss && loss->squares;
  };
  const auto& outputs = network.outputs;
  if (std::all_of(outputs.begin(), outputs.end(), is_squares) && nn::has_named_loss(network)) return;
  std::vector<std::string> names;
  for (const auto& loss : nn::all_losses())
    if (loss.squares) names.push_back(loss.name);
  throw Error(ErrorKind::usage, 468, "levenberg_marquardt: the loss of the network is no sum of squares")
      .where(place)
      .got(outputs[0].loss.empty() ? "a function" : outputs[0].loss)
      .expected(joined(names, " or "))
      .help("\"lbfgs\" takes any loss");
}

constexpr int kDrawsInVmap = 263;

// The loss of J u in place of the errors, u'J'HJ u / 2, where J has the derivatives of the outputs y with respect to
// these elements: its derivative is J'HJ u.
Tensor loss_along(const nn::Network& network, const Tree& y, const Tensor& elements, const Tensor& u) {
  const std::vector<Tensor> outputs = leaf_tensors(y);
  std::vector<Tensor> moved = jvp(outputs, {&elements, 1}, {&u, 1}), zeros;
  for (size_t i = 0; i < moved.size(); ++i) {
    moved[i] = reshape(moved[i], outputs[i].shape(), outputs[i].labels());
    const Tensor none = Tensor::zeros(outputs[i].shape(), outputs[i].type()).to(outputs[i].device());
    zeros.push_back(reshape(none, outputs[i].shape(), outputs[i].labels()));
  }
  return network.loss(with_leaves(y, moved), with_leaves(y, zeros));
}

using Gradients = ValueGradientAndAux<Tree, Tree>;

// The function of value, gradients and moments of a mini-batch. What is frozen is no parameter of the function that is
// differentiated: nothing is computed for its gradients, and in their place stand the parameters themselves.
std::function<Gradients(const Tree&, const Tensor&, const Tree&, const Tree&)> gradient_of(
    const TrainingOptions& options, uint64_t seed, const nn::Network& network, Worker* worker) {
  const GradientOptions how{.shards = options.shards, .worker = worker, .seed = seed};
  const auto loss = [&network](const Tree& p, const Tensor& x, const Tree& targets, const Tree& state) {
    const auto [y, moments] = network.forward(x, p, state, Phase::train);
    return WithAux<Tree>{network.loss(y, targets), moments};
  };
  const auto parts = parts_of(options, network);
  const ParameterPart trained = all_of(parts);
  if (parts.empty() || trained.leaves.size() == leaves(network.parameters).size()) return value_and_grad(loss, how);
  const auto of_trained =
      value_and_grad([loss, trained](const Tree& own, const Tensor& x, const Tree& targets, const Tree& state,
                                     const Tree& all) { return loss(trained.put(all, own), x, targets, state); },
                     how);
  return [of_trained, trained](const Tree& all, const Tensor& x, const Tree& targets, const Tree& state) {
    auto found = of_trained(trained.of(all), x, targets, state, all);
    return Gradients{found.value, trained.put(all, found.gradients), std::move(found.aux)};
  };
}

}  // namespace

SolverOfParts solver_of_parts(const TrainingOptions& options, const nn::Network& network) {
  const SolverKind& solver = solver_of(options);
  return {solver, only(options.options, solver.options), parts_of(options, network)};
}

TrainingState TrainingState::to(Device& device) const {
  return {parameters.to(device), state.to(device), solver.to(device)};
}

TrainingState initial_training_state(const nn::Network& network, const TrainingOptions& options) {
  return {network.parameters, network.state, solver_of_parts(options, network).initial(network.parameters)};
}

void check_groups(const TrainingOptions& options, const nn::Network& network, Place place) {
  const auto parts = parts_of(options, network, place);
  if (!solver_of(options).needs_squares) return;
  check_squares(network, place);
  int64_t size = 0;
  for (const Tensor& leaf : leaf_tensors(parts.empty() ? network.parameters : all_of(parts).of(network.parameters)))
    size += leaf.size();
  if (size <= kMostSquared) return;
  throw Error(ErrorKind::usage, 468, "levenberg_marquardt: there are too many parameters")
      .where(place)
      .got(fmt::format("{}", size))
      .expected(fmt::format("at most {}: their squares are numbers of a matrix", kMostSquared))
      .help("use \"lbfgs\", or a smaller network, or freeze parameters");
}

TrainingStep training_step(const TrainingOptions& options, uint64_t seed, const nn::Network& network, Worker* worker) {
  const auto gradient = gradient_of(options, seed, network, worker);
  const Update update = update_of(options, network);
  return [gradient, update](const TrainingState& before, const Tensor& x, const Tree& targets, const Operand& rate) {
    auto [value, gradients, moments] = gradient(before.parameters, x, targets, before.state);
    auto made = update.all(before, gradients, rate);
    Tree state = moments.empty() ? before.state : update_statistics(before.state, moments);
    return StepResult{value, {std::move(made.parameters), std::move(state), std::move(made.state)}};
  };
}

// Nothing is computed for gradients, which nobody takes.
MomentsStep moments_step(const TrainingOptions& options, uint64_t seed, const nn::Network& network, Worker* worker) {
  const auto gradient = gradient_of(options, seed, network, worker);
  return [gradient](const Tree& parameters, const Tree& state, const Tensor& x, const Tree& targets) {
    auto found = gradient(parameters, x, targets, state);
    return StepMoments{found.value, std::move(found.aux)};
  };
}

Gathered nothing_gathered(const TrainingState& before) {
  Device& there = leaf_tensors(before.parameters)[0].device();
  return {zeros_like(before.parameters).to(there), Tensor::scalar(0.0f).to(there), before.state};
}

GatherStep gather_step(const TrainingOptions& options, uint64_t seed, const nn::Network& network, Worker* worker) {
  const auto gradient = gradient_of(options, seed, network, worker);
  return [gradient](const Tree& parameters, const Gathered& before, const Tensor& x, const Tree& targets,
                    const Operand& share) {
    const auto [value, gradients, moments] = gradient(parameters, x, targets, before.state);
    const auto add = [&](const Tensor& sum, const Tensor& g) { return sum + share.as(g.type()) * g; };
    return Gathered{map(before.gradients, gradients, add), add(before.loss, value),
                    moments.empty() ? before.state : update_statistics(before.state, moments)};
  };
}

CurvatureStep curvature_step(const TrainingOptions& options, uint64_t seed, const nn::Network& network,
                             Worker* worker) {
  const auto parts = parts_of(options, network);
  const ParameterPart trained = all_of(parts);
  const auto squares = [&network, trained, is_all = parts.empty()](const Tree& identity, const Tensor& x,
                                                                   const Tree& all, const Tree& state) {
    const Tree own = is_all ? all : trained.of(all);
    const Tensor flat = flat_leaves(own);
    const auto outputs = [&] {
      const Tree there = as_leaves(own, flat);
      return network.forward(x, is_all ? there : trained.put(all, there), state, Phase::train).y;
    };
    const auto row = [&](const Tree& u) -> Tree { return loss_along(network, outputs(), flat, u.tensor()); };
    try {
      return sum(vmap(row, identity).tensor());
    } catch (const Error& error) {
      if (error.code() != kDrawsInVmap) throw;
      throw Error(ErrorKind::usage, 468, "levenberg_marquardt: a layer draws random numbers")
          .help("remove dropout, or use \"lbfgs\"");
    }
  };
  const auto gradient = value_and_grad(squares, {.shards = options.shards, .worker = worker, .seed = seed}, Place());
  return [gradient](const Tree& identity, const Tree& parameters, const Tree& state, const Tensor& before,
                    const Tensor& x, const Operand& share) {
    const auto [value, found] = gradient(identity, x, parameters, state);
    return before + share.as(DType::f32) * found.tensor();
  };
}

UpdateStep update_step(const TrainingOptions& options, const nn::Network& network) {
  const Update update = update_of(options, network);
  return [update](const TrainingState& before, const Gathered& gathered, const Operand& rate) {
    auto made = update.all(before, gathered.gradients, rate);
    return TrainingState{std::move(made.parameters), gathered.state, std::move(made.state)};
  };
}

LearnRate learn_rate(const TrainingOptions& options) {
  const double initial = options.initial_learn_rate.value_or(solver_of(options).learn_rate);
  return learn_rate(initial, {options.schedule, only(options.options, schedule_options(options.schedule))});
}

}  // namespace retrace
