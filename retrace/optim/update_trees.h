#pragma once
// What optimisers over trees share.

#include <vector>

#include "retrace/ops/operators.h"

namespace retrace {

// Checks that gradients (and the state, unless it is empty) have the structure, shapes and types of the parameters;
// `name` is the function, `entry` the state's name in messages.
void check_gradients(const char* name, const Tree& parameters, const Tree& gradients, Place place);
// The state's leaves, in order; zeros where the parameters are if the tree is empty.
std::vector<Tensor> state_leaves(const char* name, const char* entry, const Tree& parameters, const Tree& state,
                                 Place place);
// Zeros in the place of every tensor.
Tree zeros_like(const Tree& tree);
// Throws Error(usage) unless 0 <= value < 1, also when it is rounded to f32.
void check_decay(const char* name, const char* option, double value, Place place);
// Throws Error(usage) for a number that is negative or not finite; that of a tensor is not known.
void check_rate(const char* name, const char* option, const Operand& value, Place place);

// A rate, once for each type that the leaves have.
class Number {
 public:
  explicit Number(const Operand& value) : value_(value) {}
  const Tensor& as(DType type);

 private:
  Operand value_;
  Tensor f32_, f64_;
};

}  // namespace retrace
