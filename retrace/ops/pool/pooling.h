#pragma once
// Shared by max_pool2d and average_pool2d: a window without dilation over images [n,h,w,c], channel by channel.

#include "retrace/ops/pool/pooling_window.h"
#include "retrace/ops/window.h"

namespace retrace {

struct PoolShape {
  int64_t batch = 0, channels = 0;
  Window window;

  int64_t inputs() const { return batch * window.in_height * window.in_width * channels; }
  int64_t outputs() const { return batch * window.out_height() * window.out_width() * channels; }
  // Elements that a row of the pooled image reads.
  int64_t row_inputs() const { return window.height * window.width * window.out_width() * channels; }
};

// Whether each element of the image belongs to one window, and 16 elements of a row of the pooled image are channels of
// one pixel or all channels of two: the common case, which kernels do without bounds.
inline bool tiles_image(const PoolShape& s) {
  const Window& w = s.window;
  const bool apart = (w.stride_y == w.height || w.out_height() == 1) && (w.stride_x == w.width || w.out_width() == 1);
  return apart && w.top == 0 && w.left == 0 && w.in_height == w.out_height() * w.height &&
         w.in_width == w.out_width() * w.width && (s.channels % 16 == 0 || (s.channels == 8 && w.out_width() > 1));
}

// KernelCall::done, or null.
using PoolDone = const FunctionRef<void(int64_t begin, int64_t end)>*;

// body(first, end) over all rows of an image, a few thousand elements a piece, and then `done` of these. For a row so
// many elements are read, if that counts.
void run_row_pieces(int64_t rows, int64_t row_size, int64_t read, PoolDone done,
                    FunctionRef<void(int64_t first, int64_t end)> body);

// The shape from the recorded attributes pool, stride and padding, for an image of that shape.
PoolShape pool_shape(const Attributes& attributes, const Shape& image);
// For kernels of the CUDA device.
PoolGrid pool_grid(const PoolShape& shape);
// The definition of such a variable, `grid`, for kernels that are generated.
std::string pool_grid_text(const PoolGrid& grid);
// Attributes of a call on x; the padding is resolved.
Attributes pool_attributes(const Tensor& x, Pair pool, Pair stride, const Padding& padding);
// Checks input 0 as an image, and the window; returns the spec of the pooled image.
TensorSpec infer_pooled(const InferCall& call, const char* argument);
// Checks input 0 as the pooled image of an image of size attributes.size; returns the spec of that image.
TensorSpec infer_unpooled(const InferCall& call, const char* argument);

}  // namespace retrace
