#include "retrace/optim/adam_solver.h"

namespace retrace {

SolverKind adam_solver() {
  return {.name = "adam",
          .help = "adaptive moments (Kingma and Ba, 2015)",
          .learn_rate = 0.001,
          .options = adam_rules(),
          .initial = initial_adam_state,
          .update = adam_step};
}

}  // namespace retrace
