#pragma once
// y[n,oy,ox,c] = the maximum of x[n, oy*stride_y + ky - top, ox*stride_x + kx - left, c] over the window, in ascending
// order of (ky, kx): the first maximum wins, the first NaN wins over everything. Elements outside of the image are
// absent. x is [n,h,w,c], unlabelled or "BSSC"; y keeps its labels. Gradient: to the one element that won; several
// windows' shares are added from +0 in ascending order of the windows. Errors: ranks, types, a window that does not fit
// or could lie outside.

#include "retrace/ops/window.h"

namespace retrace {

struct MaxPool2dOptions {
  Pair stride = 1;
  Padding padding = {};
};

Tensor max_pool2d(const Tensor& x, Pair pool, const MaxPool2dOptions& options = {}, Place place = Place::here());

}  // namespace retrace
