#pragma once
// The search that max, first_maximum and argmax share.

#include "retrace/base/function_ref.h"
#include "retrace/ops/reduce/reduction.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// For each kept element the index of the first maximum over the reduced axes (row-major), the first NaN if there is
// one, into `found`.
void find_maxima(const KernelInput& x, const Shape& axes, int32_t* found);
// f(kept element, element of x that is its first maximum), on all threads.
void for_each_maximum(const KernelInput& x, const Shape& axes, FunctionRef<void(int64_t kept, int64_t i)> f);
// Whether each element of x is such a first maximum.
void mark_maxima(const KernelInput& x, const Shape& axes, uint8_t* mask);
// The maxima themselves into y, where x is f32 and its reduced positions lie without gaps; false: they are not.
bool write_maxima(const KernelInput& x, const Shape& axes, void* y);
// Checks of an op that searches: there is something to find, and an i32 can say where.
void check_search(const InferCall& call);
// The same of min and argmin, which search by another op: Error(usage) in their name if there is nothing to find.
void check_smallest(const Tensor& x, const Shape& axes, std::string_view function, Place place);
// x in the reverse order: -x, or n - x for integers, where n is the sum of the smallest and the largest; exact.
Tensor mirrored(const Tensor& x, Place place);

}  // namespace retrace
