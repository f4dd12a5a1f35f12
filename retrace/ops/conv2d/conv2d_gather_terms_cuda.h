#pragma once
// What a block of threads of the gathering convolution makes, and the terms of its sums.

#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/conv2d/conv2d_cuda.h"

namespace retrace::cuda {

RT_DEVICE int smaller(int a, int b) { return a < b ? a : b; }

// a / b; at once where b is 1, as it is without strides.
RT_DEVICE int over(int a, int b) { return b == 1 ? a : a / b; }
// That one of two divisors which is `by`.
RT_DEVICE const Divisor& divisor_of(const Divisor (&two)[2], int by) {
  return two[static_cast<int>(two[0].divisor) == by ? 0 : 1];
}
// n split by a divisor: the quotient, and in `n` the rest.
RT_DEVICE int take(const Divisor& by, int& n) {
  const auto [quotient, rest] = by.split(static_cast<unsigned>(n));
  n = static_cast<int>(rest);
  return static_cast<int>(quotient);
}

// The kernel indices first, first + step, ... that a phase meets, and the image's element of r = phase at the first.
struct Taps {
  int first, count, base;
};
RT_DEVICE Taps taps_of(const Conv2dAxis& axis, int phase) {
  const auto place = [&](int k) { return phase * axis.scale + k * axis.tap + axis.offset; };
  if (axis.divide == 1) return {0, axis.kernel, axis.offset};
  int first = 0;
  while (first < axis.step && first < axis.kernel && place(first) % axis.divide != 0) ++first;
  if (first == axis.step || first == axis.kernel) return {0, 0, 0};
  return {first, (axis.kernel - first + axis.step - 1) / axis.step, place(first) / axis.divide};
}

// The part of the result that this block of threads makes.
struct Part {
  int pixels, column, group, phase_y, phase_x, height, width;  // pixels: its tile of them. height x width of the phase
  Taps y, x;                                                   // in each sample
};
RT_DEVICE Part part_of(const Conv2dGatherArguments& a) {
  Part part;
  part.pixels = static_cast<int>(block().x);
  part.column = take(a.pixel_tiles, part.pixels);
  part.group = take(a.width_tiles, part.column);
  part.phase_x = take(a.each_group, part.group);
  part.phase_y = take(a.phases_x, part.phase_x);
  part.height = over(a.y.result - part.phase_y + a.y.divide - 1, a.y.divide);
  part.width = over(a.x.result - part.phase_x + a.x.divide - 1, a.x.divide);
  part.y = taps_of(a.y, part.phase_y), part.x = taps_of(a.x, part.phase_x);
  return part;
}

// A pixel of the result: where its first tap lies in the image, far outside if there is no such pixel.
struct alignas(16) Place {
  int y, x;
  Global<const float> image;  // its first channel
};
// The same, and where the pixel lies in the result; -1 if there is no such pixel.
struct Pixel {
  Place place;
  long long result;
};
RT_DEVICE Pixel pixel_at(const Conv2dGatherArguments& a, const Part& part, int sample, int row, int column) {
  if (sample >= a.batch) return {{-(1 << 30), 0, a.image}, -1};
  Place place;
  place.y = row * a.y.scale + part.y.base, place.x = column * a.x.scale + part.x.base;
  place.image =
      a.image + (((static_cast<long long>(sample) * a.y.image + place.y) * a.x.image + place.x) * a.image_channels +
                 part.group * a.depth);
  const int y = part.phase_y + row * a.y.divide, x = part.phase_x + column * a.x.divide;
  return {place, ((static_cast<long long>(sample) * a.y.result + y) * a.x.result + x) * a.result_channels +
                     part.group * a.width};
}
RT_DEVICE Pixel pixel_of(const Conv2dGatherArguments& a, const Part& part, int number) {
  int column = number;
  int row = take(divisor_of(a.widths, part.width), column);
  const int sample = take(divisor_of(a.heights, part.height), row);
  return pixel_at(a, part, sample, row, column);
}

// A term of the sum: where its channel lies at its tap, seen from a pixel's place, and in the weights of a group.
struct alignas(16) Unit {
  int y, x, image, weight;  // far outside, if there is no such term
};
// Term `number` of those that a phase meets.
RT_DEVICE Unit unit_of(const Conv2dGatherArguments& a, const Part& part, int number) {
  const auto [rows, tap] = divisor_of(a.taps, part.x.count).split(static_cast<unsigned>(number));
  const auto [line, channel] = a.channels.split(rows);
  const int i = static_cast<int>(line), c = static_cast<int>(channel), kx = static_cast<int>(tap);
  Unit unit;
  unit.y = i * a.y.delta, unit.x = kx * a.x.delta;
  unit.image = (unit.y * a.x.image + unit.x) * a.image_channels + c;
  unit.weight =
      ((part.y.first + i * a.y.step) * a.x.kernel + part.x.first + kx * a.x.step) * a.weights_tap + c * a.weights_depth;
  return unit;
}

// Pairs (ky, c) that a phase meets in the first `blocks` blocks of the sum.
RT_DEVICE int lines_before(const Conv2dGatherArguments& a, const Part& part, int blocks) {
  int channel = smaller(blocks * a.block_rows, a.y.kernel * a.depth);  // a pair (ky, c) of the whole kernel
  const int behind = take(a.channels, channel) - part.y.first;
  const int before = behind <= 0 ? 0 : smaller(over(behind + a.y.step - 1, a.y.step), part.y.count);
  const bool met = behind >= 0 && behind == over(behind, a.y.step) * a.y.step && before < part.y.count;
  return before * a.depth + (met ? channel : 0);
}
// Terms that it meets there.
RT_DEVICE int terms_before(const Conv2dGatherArguments& a, const Part& part, int blocks) {
  return lines_before(a, part, blocks) * part.x.count;
}

RT_DEVICE bool inside(const Conv2dGatherArguments& a, int y, int x) {
  return static_cast<unsigned>(y) < static_cast<unsigned>(a.y.image) &&
         static_cast<unsigned>(x) < static_cast<unsigned>(a.x.image);
}

}  // namespace retrace::cuda
