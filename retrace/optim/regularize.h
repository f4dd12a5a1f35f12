#pragma once
// What is done beside the update of a solver: to gradients before it, in this order: add L2 regularization, clip; and
// to weights after it: average. Pure functions over trees. Numbers given as floats are inputs: a change plans nothing
// anew.

#include "retrace/optim/solver.h"

namespace retrace {

// gradient + factor * parameter (two roundings) for each leaf: coupled regularization. Spared are biases and what a
// norm scales and shifts by: leaves named "bias", "recurrent_bias", "scale" or "offset", at any depth. This is what the
// trainer does with training.l2_regularization. Throws Error(usage) if the trees differ.
Tree l2_regularization(const Tree& parameters, const Tree& gradients, const Operand& factor,
                       Place place = Place::here());

// The same with the factor times the l2_factor of the first group that matches a parameter; what is frozen is left out.
// Error(usage): also as solver_update() for the groups.
Tree l2_regularization(const Tree& parameters, const Tree& gradients, const Operand& factor,
                       const std::vector<ParameterGroup>& groups, Place place = Place::here());

// How gradients are clipped.
enum class Clip {
  l2_norm,         // each tensor whose norm exceeds the threshold is scaled to it: g * (threshold / norm)
  global_l2_norm,  // all tensors alike, by the norm of all of them together
  absolute_value,  // each element to -threshold..threshold
};

// Gradients that are no larger than the threshold, by the method. A norm is sqrt of the sum of g * g by the row rule;
// the sums of several tensors are added along the tree in name order. Throws Error(usage) for a threshold that is
// negative or not finite.
Tree clip_gradients(const Tree& gradients, const Operand& threshold, Clip method = Clip::l2_norm,
                    Place place = Place::here());

// average + share * (parameters - average), three roundings, for each leaf. With a share of 1 - decay it is the
// exponential moving average; with 1 / t after step t, from 1, the mean. The share is an input: a change plans nothing
// anew. Throws Error(usage) if the trees differ, and for a share that is negative or not finite.
Tree average_weights(const Tree& average, const Tree& parameters, const Operand& share, Place place = Place::here());

}  // namespace retrace
