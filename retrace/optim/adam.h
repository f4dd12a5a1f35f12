#pragma once
// Adam over trees, as a pure function. With g the gradient and t the number of this step, from 1:
//   mean <- b1 * mean + (1 - b1) * g;  mean_square <- b2 * mean_square + (1 - b2) * g * g
//   parameters <- parameters - rate * (mean / (1 - b1^t)) / (sqrt(mean_square / (1 - b2^t)) + epsilon)
// computed in the sequence of retrace/ops/adam/adam_op.h; 1 - b^t is -expm1(t * ln b), with ln b of the rounded b
// taken in binary64 and rounded once. The rate may be a float (an input: a change plans nothing anew) or a tensor of
// rank 0.

#include "retrace/ops/operators.h"

namespace retrace {

// Options of adam_update.
struct AdamOptions {
  Operand learn_rate = 0.001f;
  double gradient_decay = 0.9;  // these three are rounded to the type of a parameter once
  double squared_gradient_decay = 0.999;
  double epsilon = 1e-8;
};

// The state between steps.
struct AdamState {
  Tree mean, mean_square;  // empty before the first step: zeros
  Tensor step;             // i32: steps made; a tensor, so that it is no part of a trace's key

  // The same state on another device: see Tensor::to.
  AdamState to(DeviceRef device, Place place = Place::here()) const;
};

// The new values.
struct AdamUpdate {
  Tree parameters;
  AdamState state;
};

// A step of Adam on a tree of parameters, by the formula above. Errors: trees of different structure, gradients of
// another shape or type, a decay outside of [0, 1), an epsilon or a rate (of a tensor it is not known) that is negative
// or not finite.
AdamUpdate adam_update(const Tree& parameters, const Tree& gradients, const AdamState& state,
                       const AdamOptions& options = {}, Place place = Place::here());

// For files: the state as one tree.
Tree to_tree(const AdamState& state);

// The state of such a tree.
AdamState adam_state(const Tree& tree);

}  // namespace retrace
