#pragma once
// Stochastic gradient descent with momentum over trees, as a pure function:
//   velocity <- momentum * velocity - rate * gradient;  parameters <- parameters + velocity
// The rate is inside of the velocity (a drop of the rate acts on new gradients only). Roundings:
// retrace/ops/sgdm/sgdm_op.h. The rate may be a float (an input: a change plans nothing anew) or a tensor of rank 0.

#include "retrace/ops/operators.h"

namespace retrace {

// Options of sgdm_update.
struct SgdmOptions {
  Operand learn_rate = 0.01f;
  double momentum = 0.9;  // rounded to the type of a parameter once
};

// The state between steps.
struct SgdmState {
  Tree velocity;  // empty before the first step: zeros

  // The same state on another device: see Tensor::to.
  SgdmState to(DeviceRef device, Place place = Place::here()) const { return {velocity.to(device, place)}; }
};

// The new values.
struct SgdmUpdate {
  Tree parameters;
  SgdmState state;
};

// A step of gradient descent with momentum on a tree of parameters, by the formula above. Errors: trees of different
// structure, gradients of another shape or type, a momentum outside of [0, 1), a rate (of a tensor it is not known)
// that is negative or not finite.
SgdmUpdate sgdm_update(const Tree& parameters, const Tree& gradients, const SgdmState& state,
                       const SgdmOptions& options = {}, Place place = Place::here());

// For files: the state as one tree.
Tree to_tree(const SgdmState& state);

// The state of such a tree.
SgdmState sgdm_state(const Tree& tree);

}  // namespace retrace
