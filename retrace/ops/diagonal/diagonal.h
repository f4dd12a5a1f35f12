#ifndef RETRACE_OPS_DIAGONAL_H
#define RETRACE_OPS_DIAGONAL_H
// Triangles and diagonals of matrices, which are the last two axes.

#include "retrace/tensor/tensor.h"

namespace retrace {

// x with 0 above a diagonal of its last two axes: element [..., i, j] stays where j - i <= diagonal, so 0 is the main
// diagonal, 1 the one above it. Any type; bits are copied, labels stay, NaN above does, too, become 0. Gradient: the
// same of dy. Error(usage) for a tensor of fewer than 2 axes.
Tensor tril(const Tensor& x, int64_t diagonal = 0, Place place = Place::here());

// x with 0 below a diagonal: element [..., i, j] stays where j - i >= diagonal. Else as tril.
Tensor triu(const Tensor& x, int64_t diagonal = 0, Place place = Place::here());

// The elements [..., i, i + offset] of the last two axes as one axis (offset below 0: [..., i - offset, i]), without
// the last axis and its label; none where the diagonal lies outside. Any type; bits are copied. Gradient: dy on that
// diagonal, else 0. Error(usage) for a tensor of fewer than 2 axes.
Tensor diagonal(const Tensor& x, int64_t offset = 0, Place place = Place::here());

// The reverse: square matrices with the last axis of x on a diagonal and 0 elsewhere, of size n + |offset| for n
// elements. The new axis is the last, labelled U where x has labels. Any type; bits are copied. Gradient:
// diagonal(dy, offset). Error(usage) for a number.
Tensor diag_embed(const Tensor& x, int64_t offset = 0, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_DIAGONAL_H
