#pragma once
// The layers. Each is the op of that name with parameters of its own; errors name the line where the layer was written.

#include "retrace/nn/layer.h"
#include "retrace/ops/average_pool2d/average_pool2d.h"
#include "retrace/ops/conv2d/conv2d.h"
#include "retrace/ops/max_pool2d/max_pool2d.h"

namespace retrace::nn {

struct ConvOptions {
  Pair stride = 1;
  Padding padding = {};
  Pair dilation = 1;
  int groups = 1;
  bool bias = true;  // starts at 0
  Initializer weights = glorot_uniform;
};
// Entry "conv1": weights [kh,kw,in/groups,filters], bias [filters].
Layer conv2d(Pair kernel, int64_t filters, const ConvOptions& options = {}, Place place = Place::here());

struct TransposedConvOptions {
  Pair stride = 1;
  Padding cropping = {};
  bool bias = true;
  Initializer weights = glorot_uniform;
};
// Entry "transposed_conv1": weights [kh,kw,filters,in], bias [filters].
Layer transposed_conv2d(Pair kernel, int64_t filters, const TransposedConvOptions& options = {},
                        Place place = Place::here());

struct LinearOptions {
  bool bias = true;
  Initializer weights = glorot_uniform;
};
// Entry "linear1": weights [outputs,features], bias [outputs].
Layer linear(int64_t outputs, const LinearOptions& options = {}, Place place = Place::here());

// Entry "norm1": scale (ones) and offset (zeros); state: running mean (zeros) and variance (ones). In training it hands
// out the moments of the batch.
Layer batch_norm(BatchNormOptions options = {}, Place place = Place::here());

// Checks that a sample has that shape, and says so to initial(key).
Layer image_input(const Shape& sample, Place place = Place::here());
Layer relu(Place place = Place::here());
Layer clipped_relu(float ceiling, Place place = Place::here());
Layer softmax(Place place = Place::here());
Layer max_pool(Pair pool, const Pool2dOptions& options = {}, Place place = Place::here());
Layer average_pool(Pair pool, const AveragePoolOptions& options = {}, Place place = Place::here());
Layer global_average_pool(Place place = Place::here());

}  // namespace retrace::nn
