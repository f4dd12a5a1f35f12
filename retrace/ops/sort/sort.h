#ifndef RETRACE_OPS_SORT_H
#define RETRACE_OPS_SORT_H
// Elements in order.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of sort and argsort.
struct SortOptions {
  bool descending = false;
};

// Elements in order, and where they stood.
struct Sorted {
  Tensor values;
  Tensor indices;  // i32: along the axis of x
};

// Each line of x along one axis (none named: the last) in ascending or descending order. The order is stable: equal
// elements, among them -0 and +0, keep theirs, in both directions; NaN come last in both. Any type; bits are copied,
// labels stay. Gradient: that of take_along_axis for the values, so dy goes back to where the elements stood; none for
// the indices. Error(usage) for an axis or a label that x lacks, and for 2^31 elements or more in a line.
//
// On a CUDA device a thread finds the place of an element by comparing it with all others of its line: a line of n
// elements takes n * n comparisons, in sort, argsort and top_k.
Sorted sort(const Tensor& x, const Axes& axis = -1, const SortOptions& options = {}, Place place = Place::here());

// The indices of sort alone.
Tensor argsort(const Tensor& x, const Axes& axis = -1, const SortOptions& options = {}, Place place = Place::here());

// The k largest elements of each line, the largest first, of equal ones that with the lower index first. NaN counts as
// the largest, as in max: top_k(x, 1) is max and argmax. Gradient as of sort, else 0. Error(usage) for k below 0 or
// above the size of the axis, and as of sort.
Sorted top_k(const Tensor& x, int64_t k, const Axes& axis = -1, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SORT_H
