#pragma once
// y = op(a) op(b), where op transposes the last two axes if asked. Each output is one sum over the contracted index, in
// the fixed order of docs/numerics.md 2.
// a, b: [rows,depth] and [depth,columns], or with one leading axis that counts independent products: [n,rows,depth].
// Leading axes are equal, or one is 1 or missing and that factor serves all products. y is [rows,columns] or
// [n,rows,columns]; it keeps the labels of a if a is not transposed, has as many axes as y, and b has no labels.
// Errors: types other than f32 and f64, ranks, sizes that do not fit.

#include "retrace/tensor/tensor.h"

namespace retrace {

struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {}, Place place = Place::here());

}  // namespace retrace
