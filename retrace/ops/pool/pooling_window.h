#pragma once
// Windows of pooling along one axis, for the CPU's and for CUDA kernels.

#include "retrace/device/cuda/fast_divide.h"

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

// The position of an element of images of one size.
struct PoolPlace {
  unsigned n, c;
  int y, x;
};

// The part of PoolShape (pooling.h) that CUDA kernels need.
struct PoolGrid {
  int channels, in_height, in_width, out_height, out_width;
  int height, width, stride_y, stride_x, top, left;
  cuda::Divisor by_channels, by_in_height, by_in_width, by_out_height, by_out_width, by_width, by_stride_y, by_stride_x;

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
  // Where element i of the images is, and of the pooled images.
  RT_BOTH PoolPlace place(unsigned i) const { return place_of(i, by_in_height, by_in_width); }
  RT_BOTH PoolPlace pooled_place(unsigned i) const { return place_of(i, by_out_height, by_out_width); }
  // covering_windows() along an axis.
  RT_BOTH Present<int> windows_of_row(int iy) const { return windows_of(iy + top, by_stride_y, height, out_height); }
  RT_BOTH Present<int> windows_of_column(int ix) const { return windows_of(ix + left, by_stride_x, width, out_width); }

 private:
  RT_BOTH PoolPlace place_of(unsigned i, const cuda::Divisor& by_height, const cuda::Divisor& by_wide) const {
    const auto pixel = by_channels.split(i), row = by_wide.split(pixel.quotient), image = by_height.split(row.quotient);
    return {image.quotient, pixel.remainder, static_cast<int>(image.remainder), static_cast<int>(row.remainder)};
  }
  RT_BOTH static Present<int> windows_of(int at, const cuda::Divisor& by_stride, int kernel, int outs) {
    const int end = static_cast<int>(by_stride.divide(static_cast<unsigned>(at))) + 1;
    const int first = at < kernel ? 0 : static_cast<int>(by_stride.divide(static_cast<unsigned>(at - kernel))) + 1;
    return {first, outs < end ? outs : end};
  }
};

}  // namespace retrace
