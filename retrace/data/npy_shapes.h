#pragma once
// What the axes of an NPY file with inputs mean.

#include <string>

#include "retrace/tensor/shape.h"

namespace retrace {

// [n,features] or [n,height,width,channels]. Error(bad_data), with the file, for other axes.
Shape npy_input_shape(const Shape& array, const std::string& file);

}  // namespace retrace
