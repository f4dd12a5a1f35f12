#pragma once
// The f32 kernels of max pooling. An index is ky * width + kx of the element that won, as Index (uint8_t or int32_t).

#include "retrace/ops/pool/pooling.h"

namespace retrace {

template <class Index>
void max_pool2d_forward(const PoolShape& shape, const float* x, float* y, Index* index);
// dx from dy; every element is written, and then reported to `done`.
template <class Index>
void max_pool2d_backward(const PoolShape& shape, const float* dy, const Index* index, float* dx, PoolDone done);

}  // namespace retrace
