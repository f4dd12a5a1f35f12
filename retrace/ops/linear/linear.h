#ifndef RETRACE_OPS_LINEAR_H
#define RETRACE_OPS_LINEAR_H
// Fully connected layer.

#include "retrace/tensor/tree.h"

namespace retrace {

// Options of linear. flatten: a sample is one row of features; false: each position has a row of its own, the last
// axis.
struct LinearOptions {
  bool flatten = true;
};

// y[n,o] = sum over i of x[n,i] * weights[o,i], with x flattened to [n,i] first: space, then channels, last axis
// fastest. weights are [out,in], as in PyTorch. The sum and its roundings are those of matmul. y is labelled "BC" if x
// has a label B. With flatten = false y[...,o] = sum over i of x[...,i] * weights[o,i]: x is reshaped to [positions,i],
// multiplied and reshaped back, and y has the axes and labels of x. Gradients: those of reshape and matmul.
// Error(usage) for wrong ranks and types, and for another number of features than the weights expect.
Tensor linear(const Tensor& x, const Tensor& weights, const LinearOptions& options, Place place = Place::here());
Tensor linear(const Tensor& x, const Tensor& weights, Place place = Place::here());

// The same plus a bias: [out] or one number, added after the sum by an add of its own.
Tensor linear(const Tensor& x, const Tensor& weights, const Tensor& bias, const LinearOptions& options,
              Place place = Place::here());
Tensor linear(const Tensor& x, const Tensor& weights, const Tensor& bias, Place place = Place::here());

// The same with a layer's parameters: {weights, bias} or {weights}.
Tensor linear(const Tensor& x, const Tree& layer, const LinearOptions& options, Place place = Place::here());
Tensor linear(const Tensor& x, const Tree& layer, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LINEAR_H
