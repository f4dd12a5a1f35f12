#ifndef RETRACE_OPS_RESIZE2D_H
#define RETRACE_OPS_RESIZE2D_H
// Images of another size.

#include <string>

#include "retrace/ops/window_options.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Factors of height and width; one number sets both. {.factor = 2}, {.factor = {1.5, 2}}. 0: not given.
struct ResizeFactor {
  double y = 0, x = 0;
  constexpr ResizeFactor(double both) : y(both), x(both) {}
  constexpr ResizeFactor(double y, double x) : y(y), x(x) {}
};

// Options of resize2d: either the size of the result, or factors of that of x, rounded down to whole pixels.
struct Resize2dOptions {
  Pair size = 0;
  ResizeFactor factor = 0;
  std::string method = "nearest";  // or "bilinear"
  bool align_corners = false;      // of "bilinear": the outer pixels of x and y lie upon each other
};

// y[n,oy,ox,c]: x at place s(oy), s(ox), where an axis of `in` pixels becomes one of `out` (PyTorch: interpolate).
//   nearest:                 x[floor((o + 1/2) * in / out)]: PyTorch's nearest-exact, and for whole factors its nearest
//   bilinear:                s = (o + 1/2) * in / out - 1/2, held between 0 and in - 1
//   bilinear, align_corners: s = o * (in - 1) / (out - 1), and 0 where out is 1
// Bilinear takes, with i = floor(s) and w = s - i, fma(w, x[i+1], (1 - w) * x[i]), and x[i] alone where w is 0.
// The height is done first, then the width. Places are fractions of whole numbers: w is one rounded division. Where an
// image becomes smaller, pixels between are skipped: average_pool2d before it keeps them.
//
//   resize2d(x, {.factor = 2});  resize2d(x, {.size = {48, 64}, .method = "bilinear"})
//
// x is [n,h,w,c], f32 or f64, unlabelled or "BSSC"; y keeps its labels. Gradient: each pixel gets fma(weight, dy, sum)
// from +0, in ascending order of the outputs that it is in, along the height within those along the width.
// Error(usage) for wrong ranks, types or labels, for both or none of size and factor, for an unknown method, for
// align_corners of "nearest", and for sizes outside of 1 to 32,768.
Tensor resize2d(const Tensor& x, const Resize2dOptions& options, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_RESIZE2D_H
