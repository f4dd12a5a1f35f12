#include <algorithm>
#include <cmath>

#include "retrace/optim/damped_step.h"
#include "retrace/optim/full_batch.h"

namespace retrace {
namespace {

Tree initial_levenberg_marquardt(const Tree& parameters, const OptionValues& options) {
  int64_t size = 0;
  for (const Tensor& leaf : leaf_tensors(parameters)) size += leaf.size();
  return full_batch_state({{"gradient", Tensor::zeros({size})},
                           {"damping", Tensor::scalar(static_cast<float>(options.number("initial_damping_factor")))}});
}

// The damping is kept in f32, so that a run that goes on has the same.
FullBatchStep step_levenberg_marquardt(const Tree& parameters, const FullBatchLoss& loss, const Tree& before,
                                       const OptionValues& options) {
  QuadraticModel model;
  int64_t evaluations = 0;
  Tensor gradient = before["gradient"];
  model.loss = loss_of(before);
  const auto evaluated = [&](const Tree& there) {
    const auto [value, gradients] = loss.with_gradients(there);
    ++evaluations;
    gradient = flat_leaves(gradients);
    return value.number();
  };
  if (!has_begun(before)) {
    model.loss = evaluated(parameters);
    if (!std::isfinite(model.loss) || !std::isfinite(largest_size(gradient))) return not_finite(parameters, before);
  }
  const Tensor known = gradient;
  model.gradient = host_values(known), model.curvature = host_values(loss.curvature(parameters));
  const auto found = damped_step(flat_leaves(parameters), model, before["damping"].tensor().number(),
                                 {options.number("max_damping_factor"), options.number("damping_increase_factor"),
                                  options.number("damping_decrease_factor")},
                                 [&](const Tensor& x) { return evaluated(as_leaves(parameters, x)); });
  const bool moved = found.x.defined();
  const Tree kept{{"gradient", moved ? gradient : known},
                  {"damping", Tensor::scalar(static_cast<float>(found.damping))}};
  const FullBatchSizes sizes{found.loss, largest_size(kept["gradient"]), found.size};
  Tree state = full_batch_state(kept, sizes, options);
  if (end_of(state) == FullBatchEnd::nothing_better) state = with_end(state, FullBatchEnd::max_damping);
  if (!moved) return {parameters, state, -1};
  const Tree made = as_leaves(parameters, found.x);
  evaluate(made);
  return {made, state, evaluations - 1};
}

}  // namespace

SolverKind levenberg_marquardt_solver() {
  return {
      .name = "levenberg-marquardt",
      .help = "damped Gauss-Newton steps from all data at once, for few parameters (Levenberg, 1944; Marquardt, 1963)",
      .learn_rate = 1,
      .options = full_batch_rules({{.name = "initial_damping_factor",
                                    .help = "of the first step",
                                    .standard = 0.001,
                                    .high = 1e30,
                                    .above_low = true},
                                   {.name = "max_damping_factor",
                                    .help = "the training ends where it would be larger",
                                    .standard = 1e10,
                                    .high = 1e30,
                                    .above_low = true},
                                   {.name = "damping_increase_factor",
                                    .help = "where a step does not make the loss smaller",
                                    .standard = 10.0,
                                    .low = 1,
                                    .high = 1e6,
                                    .above_low = true},
                                   {.name = "damping_decrease_factor",
                                    .help = "after a step that does",
                                    .standard = 0.1,
                                    .high = 1,
                                    .above_low = true}}),
      .initial = initial_levenberg_marquardt,
      .needs_squares = true,
      .step_on_all = step_levenberg_marquardt};
}

}  // namespace retrace
