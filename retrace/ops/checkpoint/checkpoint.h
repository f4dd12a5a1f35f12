#ifndef RETRACE_OPS_CHECKPOINT_H
#define RETRACE_OPS_CHECKPOINT_H
// Less memory for more work: values that the backward pass computes again.

#include "retrace/base/function_ref.h"
#include "retrace/tensor/tree.h"

namespace retrace {

// f(x), of which nothing but x is kept for the backward pass: that computes f(x) again (PyTorch: utils.checkpoint; JAX:
// checkpoint; Chen et al. 2016). A tensor is a tree of one leaf:
//
//   y = checkpoint([&](const Tree& x) -> Tree { return block(x.tensor(), parameters); }, x)
//
// f is called once, with tensors that have no values yet, and recorded. What it uses from outside counts as a part of
// x. Value and gradients are those of f, whose contributions to the gradient of a tensor are added among each other
// first. Where no gradient is asked for, it costs nothing. Determinism: that of the ops. Error(usage): a value is read,
// or random numbers are drawn without a key, inside f.
Tree checkpoint(FunctionRef<Tree(const Tree& x)> f, const Tree& x, Place place = Place::here());

// x, for plans another value than x: what is computed of it is not taken from what was computed of x, nor together with
// what makes x. No bytes are copied. Gradient: recomputed(dy).
Tensor recomputed(const Tensor& x, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CHECKPOINT_H
