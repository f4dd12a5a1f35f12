#ifndef RETRACE_OPS_CUSTOM_GRADIENT_H
#define RETRACE_OPS_CUSTOM_GRADIENT_H
// A gradient of one's own.

#include "retrace/base/function_ref.h"
#include "retrace/tensor/tree.h"

namespace retrace {

// forward(x), with backward(x, y, dy) as the gradient for x in place of that of forward's ops: y is what forward made,
// dy the gradient of the loss for y, zeros where the loss does not depend on it (PyTorch: autograd.Function; JAX:
// custom_vjp). A tensor is a tree of one leaf:
//
//   custom_gradient([](const Tree& x) -> Tree { return round(x.tensor()); },
//                   [](const Tree&, const Tree&, const Tree& dy) { return dy; }, x)     // straight through
//
// Both functions are called once, with tensors that have no values yet, and recorded: gradients of gradients are those
// of backward's ops. What they use from outside counts as a constant. backward returns a tree of the structure of x,
// each leaf of its shape and type; what it returns for leaves of integers is not used. Determinism: that of the ops.
// Error (usage): another structure, shape or type; a value is read, or random numbers are drawn, inside.
Tree custom_gradient(FunctionRef<Tree(const Tree& x)> forward,
                     FunctionRef<Tree(const Tree& x, const Tree& y, const Tree& dy)> backward, const Tree& x,
                     Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CUSTOM_GRADIENT_H
