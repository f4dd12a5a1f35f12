#pragma once
// y[n,oy,ox,c] = the mean of x[n, oy*stride_y + ky - top, ox*stride_x + kx - left, c] over the window: one sum from +0
// in ascending order of (ky, kx), then one division by the number of elements that lie inside of the image, or by that
// of the whole window if padding counts (it adds zeros). x is [n,h,w,c], unlabelled or "BSSC"; y keeps its labels.
// Gradient: dy / number for each window, added from +0 in ascending order of the windows. Errors: ranks, types, a
// window that does not fit or could lie outside.

#include "retrace/ops/window.h"

namespace retrace {

struct AveragePool2dOptions {
  Pair stride = 1;
  Padding padding = {};
  bool count_padding = false;
};

Tensor average_pool2d(const Tensor& x, Pair pool, const AveragePool2dOptions& options = {},
                      Place place = Place::here());
// One window that is the whole image: [n,1,1,c].
Tensor global_average_pool2d(const Tensor& x, Place place = Place::here());

}  // namespace retrace
