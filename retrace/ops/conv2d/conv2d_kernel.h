#pragma once
// The three convolutions over float arrays on a CPU. Activations are [batch,height,width,channels], weights
// [kernel_height,kernel_width,in_channels/groups,out_channels]. The order of each sum is that of docs/numerics.md 2:
// same bits for every instruction set, number of threads and tile. Terms outside the image are absent.

#include <cstdint>

#include "retrace/base/function_ref.h"

namespace retrace {

// y[n,oy,ox,o] meets x[n, oy*stride_y + ky*dilation_y - pad_top, ox*stride_x + kx*dilation_x - pad_left, c]; the
// padding below and to the right follows from the out sizes. groups divides both channel counts.
struct Conv2dShape {
  int64_t batch = 0, in_height = 0, in_width = 0, in_channels = 0;
  int64_t kernel_height = 0, kernel_width = 0;
  int64_t out_height = 0, out_width = 0, out_channels = 0, groups = 1;
  int64_t stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, pad_top = 0, pad_left = 0;
};

// Called after each range [begin, end) of output elements is final, on the thread that wrote it: ranges are
// disjoint, cover the output, and consist of whole pixels (rows of a matrix).
using ContractionDone = FunctionRef<void(int64_t begin, int64_t end)>;

// Bytes that `workspace` must have, at alignment 64. `done` may be null.
int64_t conv2d_forward_workspace(const Conv2dShape& shape);
void conv2d_forward(const Conv2dShape& shape, const float* x, const float* w, float* y, void* workspace,
                    ContractionDone* done);

// dx from dy and w; also the forward of a transposed convolution, whose output is dx. Every element of dx is written.
int64_t conv2d_input_gradient_workspace(const Conv2dShape& shape);
void conv2d_input_gradient(const Conv2dShape& shape, const float* dy, const float* w, float* dx, void* workspace,
                           ContractionDone* done);

// dw from x and dy.
int64_t conv2d_filter_gradient_workspace(const Conv2dShape& shape);
void conv2d_filter_gradient(const Conv2dShape& shape, const float* x, const float* dy, float* dw, void* workspace);

}  // namespace retrace
