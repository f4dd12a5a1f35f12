#ifndef RETRACE_OPS_MAX_UNPOOL2D_H
#define RETRACE_OPS_MAX_UNPOOL2D_H
// Where the maxima of images stood, and the way back.

#include "retrace/ops/max_pool2d/max_pool2d.h"

namespace retrace {

// What max_pool2d makes, and where each maximum stood in its image: row * width + column, i32, with the shape and the
// labels of y.
struct MaxPooled {
  Tensor y, index;
};

// max_pool2d with the places of its maxima (PyTorch: max_pool2d with return_indices). Arguments, gradient of y and
// errors: as of max_pool2d; Error(usage) for images of 2^31 pixels and more. The index has no gradient.
MaxPooled max_pool2d_with_index(const Tensor& x, Pair pool, const MaxPool2dOptions& options = {},
                                Place place = Place::here());

// An image of `size` for each one in y: zeros, and the elements of y at the places that the index says: x[n, k / width,
// k % width, c] += y[n,i,j,c] with k = index[n,i,j,c] (PyTorch: max_unpool2d). Where several elements have one place,
// as where windows overlap, they are added from +0 in ascending order of (i, j). y is [n,h,w,c], f32 or f64, unlabelled
// or "BSSC"; the result keeps its labels. A place outside of the image throws Error(usage) with its value when the
// result is computed; on a CUDA device when values are read next. Gradient: dy of each place. Error(usage) for wrong
// ranks, types or labels, an index of another shape or type, and sizes that are negative or have 2^31 pixels.
Tensor max_unpool2d(const Tensor& y, const Tensor& index, Pair size, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_MAX_UNPOOL2D_H
