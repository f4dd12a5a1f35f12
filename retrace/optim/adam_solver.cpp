#include "retrace/optim/adam_solver.h"

#include <iterator>

#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/optim/update_trees.h"

namespace retrace {

std::vector<OptionRule> adam_rules(std::vector<OptionRule> own) {
  std::vector<OptionRule> rules = {
      {.name = "gradient_decay", .help = "of the mean of the gradients", .standard = 0.9, .high = 0.999999},
      {.name = "squared_gradient_decay", .help = "of the mean of their squares", .standard = 0.999, .high = 0.999999},
      {.name = "epsilon", .help = "added to the denominator", .standard = 1e-8, .high = 1, .above_low = true}};
  rules.insert(rules.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return rules;
}

OptionRule weight_decay_rule(double standard) {
  return {.name = "weight_decay",
          .help = "times the rate: the part of each parameter that a step takes away",
          .standard = standard,
          .high = 1e6};
}

Tree initial_adam_state(const Tree& parameters, const OptionValues&) {
  return to_tree(AdamState{zeros_like(parameters), zeros_like(parameters), Tensor::scalar(int32_t{0})});
}

SolverUpdate adam_step(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                       const OptionValues& options) {
  const auto made = adam_update(parameters, gradients, adam_state(state),
                                {.learn_rate = learn_rate,
                                 .gradient_decay = options.number("gradient_decay"),
                                 .squared_gradient_decay = options.number("squared_gradient_decay"),
                                 .epsilon = options.number("epsilon")});
  return {made.parameters, to_tree(made.state)};
}

Tree decayed_weights(const Tree& parameters, const Operand& learn_rate, double weight_decay) {
  Number rate(learn_rate);
  return map(parameters, [&](const Tensor& w) {
    const Tensor one = Tensor::full(1, {}, w.type()), decay = Tensor::full(weight_decay, {}, w.type());
    return multiply(w, subtract(one, multiply(rate.as(w.type()), decay)));
  });
}

}  // namespace retrace
