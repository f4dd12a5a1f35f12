#include "retrace/optim/minimize.h"

#include <cmath>

#include "retrace/base/fp_environment.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/optim/full_batch.h"

namespace retrace {
namespace {

constexpr const char* kSearches[] = {"weak-wolfe", "strong-wolfe", "backtracking"};

LbfgsOptions lbfgs_options(const OptionValues& options) {
  LbfgsOptions made{.history_size = options.integer("history_size"),
                    .max_line_search_iterations = options.integer("max_line_search_iterations"),
                    .initial_inverse_hessian_factor = options.number("initial_inverse_hessian_factor")};
  for (int i = 0; i < 3; ++i)
    if (options.text("line_search") == kSearches[i]) made.line_search = static_cast<LineSearch>(i);
  if (const double size = options.number("initial_step_size"); size > 0) made.initial_step_size = size;
  return made;
}

// A fixed number of rows, of which the first so many are pairs: oldest first.
Tensor rows_of(const std::vector<Tensor>& pairs, const Tensor& like, int64_t rows) {
  std::vector<Tensor> all;
  for (const Tensor& pair : pairs) all.push_back(reshape(pair, {1, like.size()}));
  const int64_t left = rows - std::ssize(pairs);
  if (left > 0) all.push_back(Tensor::zeros({left, like.size()}, like.type()).to(like.device()));
  return concatenate(all, 0);
}

std::vector<Tensor> pairs_of(const Tensor& rows, int64_t count) {
  std::vector<Tensor> pairs;
  for (int64_t i = 0; i < count; ++i) pairs.push_back(reshape(slice(rows, 0, {i, i + 1}), {rows.shape()[1]}));
  return pairs;
}

Tree initial_lbfgs(const Tree& parameters, const OptionValues& options) {
  int64_t size = 0;
  for (const Tensor& leaf : leaf_tensors(parameters)) size += leaf.size();
  const int64_t rows = options.integer("history_size");
  return full_batch_state({{"steps", Tensor::zeros({rows, size})},
                           {"gradient_steps", Tensor::zeros({rows, size})},
                           {"gradient", Tensor::zeros({size})},
                           {"pairs", Tensor::scalar(int32_t{0})}});
}

LbfgsState state_from(const Tree& tree) {
  LbfgsState state;
  if (!has_begun(tree)) return state;
  const auto count = static_cast<int64_t>(tree["pairs"].tensor().number());
  state.steps = pairs_of(tree["steps"].tensor(), count);
  state.gradient_steps = pairs_of(tree["gradient_steps"].tensor(), count);
  state.gradient = tree["gradient"].tensor();
  state.loss = tree["loss"].tensor().number();
  return state;
}

FullBatchStep step_lbfgs(const Tree& parameters, const FullBatchLoss& loss, const Tree& before,
                         const OptionValues& options) {
  LbfgsState state = state_from(before);
  int64_t first = 0;
  if (!has_begun(before)) {
    const auto [value, gradients] = loss.with_gradients(parameters);
    ++first;
    if (!std::isfinite(value.number()) || !is_finite(gradients)) return not_finite(parameters, before);
    state.gradient = flat_leaves(gradients), state.loss = value.number();
  }
  const auto made = lbfgs_update(parameters, loss.with_gradients, state, lbfgs_options(options));
  const int64_t rows = options.integer("history_size");
  const Tensor& like = made.state.gradient;
  const Tree kept{{"steps", rows_of(made.state.steps, like, rows)},
                  {"gradient_steps", rows_of(made.state.gradient_steps, like, rows)},
                  {"gradient", like},
                  {"pairs", Tensor::scalar(static_cast<int32_t>(made.state.steps.size()))}};
  return {made.parameters, full_batch_state(kept, {made.loss, made.gradient_size, made.step_size}, options),
          made.evaluation < 0 ? made.evaluation : made.evaluation + first};
}

}  // namespace

SolverKind lbfgs_solver() {
  return {.name = "lbfgs",
          .help = "quasi-Newton steps from all data at once, by a line search (Nocedal and Wright, 2006)",
          .learn_rate = 1,
          .options = full_batch_rules(
              {{.name = "history_size",
                .help = "pairs of differences that are kept",
                .standard = int64_t{10},
                .low = 1,
                .high = 1000},
               {.name = "line_search",
                .help = "how far a step goes",
                .standard = std::string(kSearches[0]),
                .choices = {kSearches[0], kSearches[1], kSearches[2]}},
               {.name = "max_line_search_iterations",
                .help = "evaluations of the loss in one step",
                .standard = int64_t{20},
                .low = 1,
                .high = 10000},
               {.name = "initial_inverse_hessian_factor",
                .help = "of the first direction",
                .standard = 1.0,
                .high = 1e30,
                .above_low = true},
               {.name = "initial_step_size",
                .help = "the first length that is tried in the first step; 0: min(1, 1 / (sum of |g|))",
                .standard = 0.0,
                .high = 1e30}}),
          .initial = initial_lbfgs,
          .step_on_all = step_lbfgs};
}

}  // namespace retrace
