#include "retrace/optim/adam.h"

#include "retrace/optim/solver_kind.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

Tree initial(const Tree& parameters) {
  return to_tree(AdamState{zeros_like(parameters), zeros_like(parameters), Tensor::scalar(int32_t{0})});
}

SolverUpdate update(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                    const OptionValues& options) {
  const auto made = adam_update(parameters, gradients, adam_state(state),
                                {.learn_rate = learn_rate,
                                 .gradient_decay = options.number("gradient_decay"),
                                 .squared_gradient_decay = options.number("squared_gradient_decay"),
                                 .epsilon = options.number("epsilon")});
  return {made.parameters, to_tree(made.state)};
}

}  // namespace

SolverKind adam_solver() {
  return {.name = "adam",
          .help = "adaptive moments (Kingma and Ba, 2015)",
          .learn_rate = 0.001,
          .options =
              {{.name = "gradient_decay", .help = "of the mean of the gradients", .standard = 0.9, .high = 0.999999},
               {.name = "squared_gradient_decay",
                .help = "of the mean of their squares",
                .standard = 0.999,
                .high = 0.999999},
               {.name = "epsilon", .help = "added to the denominator", .standard = 1e-8, .high = 1, .above_low = true}},
          .initial = initial,
          .update = update};
}

}  // namespace retrace
