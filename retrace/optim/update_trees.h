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
// Those leaves, by their places in leaves(), under their paths.
Tree part_of(const Tree& tree, const std::vector<size_t>& places);
// The tree with these leaves replaced by those of `part`, in order.
Tree with_part(const Tree& tree, const std::vector<size_t>& places, const Tree& part);
// Zeros in the place of every tensor.
Tree zeros_like(const Tree& tree);
// Throws Error(usage) unless 0 <= value < 1, also when it is rounded to f32.
void check_decay(const char* name, const char* option, double value, Place place);
// Throws Error(usage) for a number that is negative or not finite; that of a tensor is not known.
void check_rate(const char* name, const char* option, const Operand& value, Place place);

// The option as a number of the type; 1 - b and ln b are those of this number.
double rounded_to(DType type, double option);
// 1 - decay^t, as -expm1(t * ln decay), which keeps all digits where decay^t is near 1; t and the result are of rank 0
// and of one type.
Tensor one_minus_power(double decay, const Tensor& t, Place place = {});
// stored_state(decay * mean + (1 - decay) * x): a mean that forgets. The decay is rounded to the type first; both
// products are rounded, then added.
Tensor moving_mean(const Tensor& mean, const Tensor& x, double decay);
// The number of steps after this one: i32, of rank 0; an undefined tensor counts as 0.
Tensor next_step(const Tensor& step, Place place = {});

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
