#pragma once
// How a window moves over an image: what convolutions and pooling share behind their options.

#include "retrace/ops/op.h"
#include "retrace/ops/window_options.h"

namespace retrace {

// A window over an image [n,h,w,c], with everything resolved.
struct Window {
  int64_t in_height = 0, in_width = 0, height = 1, width = 1;  // of the image, of the window
  int64_t stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  // floor((in + padding - dilation * (k - 1) - 1) / stride) + 1; below 1 if the window does not fit.
  int64_t out_height() const { return outputs(in_height + top + bottom, height, stride_y, dilation_y); }
  int64_t out_width() const { return outputs(in_width + left + right, width, stride_x, dilation_x); }

  static int64_t outputs(int64_t in, int64_t window, int64_t stride, int64_t dilation);
};

// {top, bottom, left, right} for a window over an image of that size; negative entries stay and are refused later.
Shape resolved_padding(const Padding& padding, Pair in, Pair window, Pair stride, Pair dilation);

// Checks that the sizes of a window are usable and that the output has at least one pixel; throws Error(usage).
void check_window(const InferCall& call, const Window& window);
// Checks that each of the four paddings is smaller than the window (pooling: a window must not lie outside of the
// image); throws Error(usage).
void check_padding_below_window(const InferCall& call, const Window& window);
// Checks that the image is [n,h,w,c], unlabelled or "BSSC", f32 or f64; throws Error(usage).
void check_image(const InferCall& call, int input, const char* argument);

}  // namespace retrace
