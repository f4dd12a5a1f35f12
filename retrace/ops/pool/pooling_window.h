#pragma once
// Windows of pooling along one axis, for the CPU's and for CUDA kernels.

#include "retrace/device/cuda/global.h"

namespace retrace {

// first .. end-1.
template <class Int>
struct Present {
  Int first, end;
};

// The part of a window that lies inside of the image: kernel offsets.
template <class Int>
RT_BOTH Present<Int> present_part(Int out, Int stride, Int pad, Int kernel, Int in) {
  const Int start = out * stride - pad;
  return {start < 0 ? -start : Int(0), kernel < in - start ? kernel : in - start};
}

// The windows that hold element `in` of the image.
template <class Int>
RT_BOTH Present<Int> covering_windows(Int in, Int stride, Int pad, Int kernel, Int outs) {
  const Int at = in + pad, end = at / stride + 1;
  return {at < kernel ? Int(0) : (at - kernel) / stride + 1, outs < end ? outs : end};
}

// The part of PoolShape (pooling.h) that CUDA kernels need.
struct PoolGrid {
  int channels, in_height, in_width, out_height, out_width;
  int height, width, stride_y, stride_x, top, left;

  // Element of the image that element (ky, kx) of window (oy, ox) of sample n is.
  RT_BOTH unsigned source(unsigned n, int oy, int ox, unsigned c, int ky, int kx) const {
    const auto iy = static_cast<unsigned>(oy * stride_y + ky - top);
    const auto ix = static_cast<unsigned>(ox * stride_x + kx - left);
    return ((n * static_cast<unsigned>(in_height) + iy) * static_cast<unsigned>(in_width) + ix) *
               static_cast<unsigned>(channels) +
           c;
  }
  // Element of the pooled image that window (oy, ox) makes.
  RT_BOTH unsigned pooled(unsigned n, int oy, int ox, unsigned c) const {
    const unsigned row = n * static_cast<unsigned>(out_height) + static_cast<unsigned>(oy);
    return (row * static_cast<unsigned>(out_width) + static_cast<unsigned>(ox)) * static_cast<unsigned>(channels) + c;
  }
};

// The position of element i of images of that size.
struct PoolPlace {
  unsigned n, c;
  int y, x;
};
RT_BOTH PoolPlace pool_place(unsigned i, int height, int width, int channels) {
  const auto c = i % static_cast<unsigned>(channels);
  i /= static_cast<unsigned>(channels);
  const auto x = i % static_cast<unsigned>(width);
  i /= static_cast<unsigned>(width);
  return {i / static_cast<unsigned>(height), c, static_cast<int>(i % static_cast<unsigned>(height)),
          static_cast<int>(x)};
}

}  // namespace retrace
