#ifndef RETRACE_OPS_ONE_HOT_H
#define RETRACE_OPS_ONE_HOT_H
// Class numbers to one-hot vectors, and back.

#include "retrace/tensor/tensor.h"

namespace retrace {

// f32 of shape [..., classes], with 1 at each label and 0 elsewhere. labels are i32 or u8 from 0 to classes - 1. Any
// other value throws Error(usage) with the value and its position when y is computed; on a CUDA device when values are
// read next, and the row is NaN there. The new last axis is labelled C if the input is labelled (U if it has a C
// already). No gradient: labels are integers.
Tensor one_hot(const Tensor& labels, int64_t classes, Place place = Place::here());

// The class (i32) of each row of scores: argmax along axis C, or else the last; the first of equal ones.
Tensor one_hot_decode(const Tensor& scores, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_ONE_HOT_H
