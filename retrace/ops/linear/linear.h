#pragma once
// A fully connected layer: y[n,o] = sum over i of x[n,i] * weights[o,i] + bias[o], with x flattened to [n,i] first:
// space, then channels, last fastest. weights are [out,in]; bias is [out] or one number. y is labelled "BC" if x has a
// label B. The sum is matmul's; the bias is an add of its own. Errors: another number of features, ranks, types.

#include "retrace/tensor/tree.h"

namespace retrace {

Tensor linear(const Tensor& x, const Tensor& weights, Place place = Place::here());
Tensor linear(const Tensor& x, const Tensor& weights, const Tensor& bias, Place place = Place::here());
// The layer {weights, bias} or {weights}.
Tensor linear(const Tensor& x, const Tree& layer, Place place = Place::here());

}  // namespace retrace
