#pragma once
// What solvers share that look at all data in each step.

#include "retrace/optim/solver_kind.h"

namespace retrace {

// Why such a solver has nothing left to do.
enum class FullBatchEnd { none, gradient_tolerance, step_tolerance, nothing_better, max_damping };

// The options of the solver, and those that all have: gradient_tolerance and step_tolerance.
std::vector<OptionRule> full_batch_rules(std::vector<OptionRule> own);

// The state of a solver before the first step: its own entries, and those that are read below.
Tree full_batch_state(Tree own);
// After a step, with the loss and the largest gradient of an element there, and the largest change of an element.
struct FullBatchSizes {
  double loss = 0, gradient = 0, step = 0;
};
Tree full_batch_state(Tree own, const FullBatchSizes& sizes, const OptionValues& options);
// The same with another reason to end.
Tree with_end(Tree state, FullBatchEnd end);

// Whether there was a step.
bool has_begun(const Tree& state);
double loss_of(const Tree& state);
FullBatchEnd end_of(const Tree& state);

// All elements of the leaves as one array, and back.
Tensor flat_leaves(const Tree& tree);
Tree as_leaves(const Tree& structure, const Tensor& flat);
// The largest size of an element; 0 of none.
double largest_size(const Tensor& x);
// Whether the sum of the squares is finite.
bool is_finite(const Tree& gradients);
// A step that was not made, since the loss or its gradient at the parameters is not finite.
FullBatchStep not_finite(const Tree& parameters, const Tree& state);

}  // namespace retrace
