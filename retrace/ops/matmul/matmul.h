#ifndef RETRACE_OPS_MATMUL_H
#define RETRACE_OPS_MATMUL_H
// Matrix product.

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of matmul: whether a factor's last two axes are transposed first.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};

// y = op(a) op(b), where op transposes the last two axes if asked. Each output is one sum over the contracted index, in
// the fixed order of docs/numerics.md 2. a and b are [rows,depth] and [depth,columns], f32 or f64, or have leading axes
// that count independent products: [n...,rows,depth]. Leading axes are aligned from the last of them; sizes are equal,
// or one is 1 or missing, and that factor serves all products. Nothing is copied but a factor that stretches along some
// of several leading axes and not along others. y is [rows,columns] or [n...,rows,columns]. It keeps the labels of a if
// a is not transposed and has the leading axes of y, and b has no labels. Gradients: matrix products of dy with the
// other factor, summed over the axes along which that stretched. Error(usage) for other types or ranks, and for sizes
// that do not fit.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MATMUL_H
