#pragma once
// The layers. Each is the op of that name, with its options, and with parameters of its own; errors name the line where
// the layer was written.

#include "retrace/nn/layer.h"
#include "retrace/ops/average_pool2d/average_pool2d.h"
#include "retrace/ops/conv2d/conv2d.h"
#include "retrace/ops/max_pool2d/max_pool2d.h"
#include "retrace/ops/transposed_conv2d/transposed_conv2d.h"

namespace retrace::nn {

// How the parameters of a layer begin.
struct ParameterOptions {
  Initializer initializer = glorot_uniform;  // of the weights
  bool bias = true;                          // whether there is one; it starts at 0
};

// Parameters: weights [kh,kw,in/groups,filters], bias [filters].
Layer conv2d(Pair kernel, int64_t filters, const Conv2dOptions& options = {}, const ParameterOptions& parameters = {},
             Place place = Place::here());
// Parameters: weights [kh,kw,filters,in], bias [filters].
Layer transposed_conv2d(Pair kernel, int64_t filters, const TransposedConv2dOptions& options = {},
                        const ParameterOptions& parameters = {}, Place place = Place::here());
// Parameters: weights [outputs,features], bias [outputs].
Layer linear(int64_t outputs, const ParameterOptions& parameters = {}, Place place = Place::here());
// Parameters: scale (ones) and offset (zeros); state: running mean (zeros) and variance (ones). In training it hands
// out the moments of the batch.
Layer batch_norm(const BatchNormOptions& options = {}, Place place = Place::here());

// Checks that a sample has that shape, and says so to initial(key).
Layer image_input(const Shape& sample, Place place = Place::here());
Layer relu(Place place = Place::here());
Layer clipped_relu(double ceiling, Place place = Place::here());
Layer softmax(Place place = Place::here());
Layer max_pool2d(Pair pool, const MaxPool2dOptions& options = {}, Place place = Place::here());
Layer average_pool2d(Pair pool, const AveragePool2dOptions& options = {}, Place place = Place::here());
Layer global_average_pool2d(Place place = Place::here());

}  // namespace retrace::nn
