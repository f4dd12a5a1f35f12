#ifndef RETRACE_OPS_SPLIT_H
#define RETRACE_OPS_SPLIT_H
// A tensor as its parts along an axis.

#include <span>
#include <vector>

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// x cut along an axis into so many parts of one size, or into parts of these sizes: split(x, "C", 2), split(x, 0, {3,
// 1}). concatenate() joins them again. Gradient: concatenate
// for parts of one size; pad, and the sum over the parts in use, for others. Error(usage) if the parts do
// not divide the size of the axis, or the sizes do not add up to it.
std::vector<Tensor> split(const Tensor& x, const Axes& axis, int64_t parts, Place place = Place::here());
std::vector<Tensor> split(const Tensor& x, const Axes& axis, std::span<const int64_t> sizes,
                          Place place = Place::here());
inline std::vector<Tensor> split(const Tensor& x, const Axes& axis, std::initializer_list<int64_t> sizes,
                                 Place place = Place::here()) {
  return split(x, axis, std::span(sizes.begin(), sizes.size()), place);
}

// The elements of an axis, without that axis and its label: unstack(x, "T") has x at each time. stack() joins them
// again. Gradient: concatenate.
std::vector<Tensor> unstack(const Tensor& x, const Axes& axis = 0, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SPLIT_H
