#ifndef RETRACE_OPS_EINSUM_H
#define RETRACE_OPS_EINSUM_H
// Sums of products in index notation.

#include <string_view>
#include <vector>

#include "retrace/tensor/tensor.h"

namespace retrace {

// einsum("bij,bjk->bik", {a, b}): each letter names an axis, and what has the same letter is multiplied at the same
// index:
//   y[letters behind ->] = sum over all other letters of the product of the operands
// Without "->" the result has the letters that occur once, in the order of the alphabet (a before A). Spaces do not
// count. One operand or more, f32 or f64, all of one type. Operands are taken from left to right: letters that one
// alone has, and the result has not, are summed by sum; two operands are multiplied by matmul, over the letters that
// neither the result nor a later operand has, or by multiply, where there are none. So each sum has the fixed order of
// docs/numerics.md 2 and 3. The result has no labels. Gradients: those of these ops. Error(usage) for a text that is no
// such equation, for a letter that is twice in an operand, for "...", and for operands that do not fit.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_EINSUM_H
