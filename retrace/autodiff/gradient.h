#pragma once
// Reverse-mode differentiation on the trace as recorded: no pass has run before it. Gradients are recorded as more
// nodes of the same trace, so they can be differentiated again.

#include <span>
#include <vector>

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// d loss / d x for each x: tensors recorded on this thread (or known: then as inputs of the trace). The loss is one
// f32 or f64 element. Zeros where the loss does not depend on x. Contributions of several consumers are added in the
// recorded order of the consumers, left to right.
std::vector<Tensor> gradients(const Tensor& loss, std::span<const Tensor> with_respect_to, Place place = Place::here());

// Below, y and x are recorded as above: y was computed from x on this thread, and x may be known. All are made of
// recorded ops, so they can be differentiated again; determinism is that of the ops.

// Reverse mode, the product of cotangents with the derivative: for each x the sum over y of cotangent times dy / dx,
// with the contributions in the same order (JAX: vjp). An undefined cotangent counts nothing, and one without labels
// has those of its y; undefined where nothing depends on x. Error(usage) for a cotangent whose shape is not that of its
// y, and in a body (of vmap, scan, checkpoint) for a y that was recorded outside of it.
std::vector<Tensor> vjp(std::span<const Tensor> y, std::span<const Tensor> cotangents, std::span<const Tensor> x,
                        Place place = Place::here());

// Forward mode, the product of the derivative with tangents: for each y the sum over x of dy / dx times tangent; zeros
// where it depends on none. Made by reverse mode twice (the derivative of vjp with respect to its cotangents), which
// costs two to three times as much as y. Error(usage) for a tangent whose shape is not that of its x.
std::vector<Tensor> jvp(std::span<const Tensor> y, std::span<const Tensor> x, std::span<const Tensor> tangents,
                        Place place = Place::here());
inline Tensor jvp(const Tensor& y, const Tensor& x, const Tensor& tangent, Place place = Place::here()) {
  return jvp(std::span(&y, 1), std::span(&x, 1), std::span(&tangent, 1), place)[0];
}

// The derivatives of y's slices along an axis, with the other axes of y summed, side by side along a new axis of the
// result at that place: y [B,n] and x [B,m], where each row of y depends on its own row of x, give [B,n,m] for axis 1;
// y [n] and x [m] give [n,m] for axis 0. One pass of reverse mode for each slice. Unlabelled. Error(usage) for another
// axis, and where x has fewer axes than `axis`.
Tensor jacobian(const Tensor& y, const Tensor& x, const Axes& axis, Place place = Place::here());

// The sum over i of d y_i / d x_i along an axis, where y has the shape of x and depends on x elsewhere along that axis
// alone: the shape of x without it. One pass of reverse mode for each i.
Tensor divergence(const Tensor& y, const Tensor& x, const Axes& axis, Place place = Place::here());

// The sum over i of d2 y / d x_i^2 along an axis: the divergence of the gradient of the sum of y, a number for each
// place of x outside of the axis.
Tensor laplacian(const Tensor& y, const Tensor& x, const Axes& axis, Place place = Place::here());

// H v, where H is the second derivative of a loss, one f32 or f64 element, with respect to x: the gradient of the sum
// of gradient times v. Undefined entries of v count nothing.
std::vector<Tensor> hessian_vector(const Tensor& loss, std::span<const Tensor> x, std::span<const Tensor> v,
                                   Place place = Place::here());

}  // namespace retrace
