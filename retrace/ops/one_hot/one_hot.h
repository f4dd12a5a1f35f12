#pragma once
// one_hot: f32 of shape [..., classes] with 1 at each label and 0 elsewhere. labels are i32 or u8 from 0 to
// classes - 1; any other value throws Error(usage) with the value and its position: when it is computed, on a CUDA
// device when values are read next, where the row is of NaN. The new last axis is labelled C if the input is labelled
// (U if it has a C already). No gradient: labels are integers.
// one_hot_decode: the class (i32) of each row of scores, along axis C or else the last; the first of equals.

#include "retrace/tensor/tensor.h"

namespace retrace {

Tensor one_hot(const Tensor& labels, int64_t classes, Place place = Place::here());
Tensor one_hot_decode(const Tensor& scores, Place place = Place::here());

}  // namespace retrace
