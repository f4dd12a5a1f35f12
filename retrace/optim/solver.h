#pragma once
// Updates of parameters by their gradients, as pure functions over trees, for loops of one's own: any solver by its
// name; SGD with momentum and Adam with a type for their state. A rate may be a float (an input: a change plans nothing
// anew) or a tensor of rank 0.

#include <string>
#include <vector>

#include "retrace/base/option_values.h"
#include "retrace/ops/operators.h"

namespace retrace {

// Parameters that are trained with values of their own: docs/training.md 1. A parameter is in the first group that
// matches its path; one that is in none is trained as the solver says.
struct ParameterGroup {
  // Of their paths; * is any text and ? one character, also a '/': "*bias", "stem/*", "conv2d_1/weights".
  std::vector<std::string> parameters = {};
  double learn_rate_factor = 1;  // of the rate
  double l2_factor = 1;          // of L2 regularization: see l2_regularization() in optim/regularize.h
  bool frozen = false;           // they stay as they are
  OptionValues options = {};     // of the solver, in place of those of all: {{"weight_decay", 0.0}}
  std::string place = {};        // in a job file, for messages
};

// A solver by its name (of retrace/optim/solvers, docs/training.md 1), with values of its options.
struct Solver {
  std::string name = "adam";
  OptionValues options = {};
  std::vector<ParameterGroup> groups = {};
};

// The new values: the state is a tree, which files can hold.
struct SolverUpdate {
  Tree parameters, state;
};

// The state before the first step, with the structure that every later one has. Throws Error(usage) as solver_update()
// for the solver.
Tree solver_state(const Tree& parameters, const Solver& solver = {}, Place place = Place::here());

// One step, by the formula of docs/training.md 1: what train_network and jobs do with training.solver. An empty state
// is that before the first step. Groups of parameters step one by one, with the rate times the factor, rounded once;
// their states are group_1, group_2, ... Throws Error(usage) for an unknown name, with the nearest one; for an option
// that the solver does not have; for a group with a pattern that matches nothing, with the nearest name, with no
// parameters that are in no group before it, or with a factor out of range; if all parameters are frozen; for trees of
// different structure, gradients of another shape or type, and a rate (of a tensor it is not known) that is negative or
// not finite.
SolverUpdate solver_update(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                           const Solver& solver = {}, Place place = Place::here());

// SGD with momentum:
//   velocity <- momentum * velocity - rate * gradient;  parameters <- parameters + velocity
// The rate is inside of the velocity (a drop of the rate acts on new gradients only). Roundings:
// retrace/ops/sgdm/sgdm_op.h.

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

// Adam. With g the gradient and t the number of this step, from 1:
//   mean <- b1 * mean + (1 - b1) * g;  mean_square <- b2 * mean_square + (1 - b2) * g * g
//   parameters <- parameters - rate * (mean / (1 - b1^t)) / (sqrt(mean_square / (1 - b2^t)) + epsilon)
// computed in the sequence of retrace/ops/adam/adam_op.h; 1 - b^t is -expm1(t * ln b), with ln b of the rounded b
// taken in binary64 and rounded once.

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
