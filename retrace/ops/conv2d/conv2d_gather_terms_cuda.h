#pragma once
// What a block of threads of the gathering convolution makes, and the terms of its sums.

#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/conv2d/conv2d_cuda.h"

namespace retrace::cuda {

RT_DEVICE int smaller(int a, int b) { return a < b ? a : b; }

// The kernel indices first, first + step, ... that a phase meets, and the image's element of r = phase at the first.
struct Taps {
  int first, count, base;
};
RT_DEVICE Taps taps_of(const Conv2dAxis& axis, int phase) {
  const auto place = [&](int k) { return phase * axis.scale + k * axis.tap + axis.offset; };
  int first = 0;
  while (first < axis.step && first < axis.kernel && place(first) % axis.divide != 0) ++first;
  if (first == axis.step || first == axis.kernel) return {0, 0, 0};
  return {first, (axis.kernel - first + axis.step - 1) / axis.step, place(first) / axis.divide};
}

// The part of the result that this block of threads makes.
struct Part {
  int group, column, phase_y, phase_x, height, width;  // height x width pixels of the phase in each sample
  Taps y, x;
};
RT_DEVICE Part part_of(const Conv2dGatherArguments& a) {
  int rest = static_cast<int>(block().x) / a.pixel_tiles;
  Part part;
  part.column = rest % a.width_tiles, rest /= a.width_tiles;
  part.group = rest % a.groups, rest /= a.groups;
  part.phase_y = rest / a.phases_x, part.phase_x = rest % a.phases_x;
  part.height = (a.y.result - part.phase_y + a.y.divide - 1) / a.y.divide;
  part.width = (a.x.result - part.phase_x + a.x.divide - 1) / a.x.divide;
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
  const int sample = number / (part.height * part.width), rest = number % (part.height * part.width);
  return pixel_at(a, part, sample, rest / part.width, rest % part.width);
}

// A term of the sum: where its channel lies at its tap, seen from a pixel's place, and in the weights of a group.
struct alignas(16) Unit {
  int y, x, image, weight;  // far outside, if there is no such term
};
// Term `number` of those that a phase meets.
RT_DEVICE Unit unit_of(const Conv2dGatherArguments& a, const Part& part, int number) {
  const Divisor& taps = static_cast<int>(a.taps[0].divisor) == part.x.count ? a.taps[0] : a.taps[1];
  const auto [rows, tap] = taps.split(static_cast<unsigned>(number));
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
  const int row = smaller(blocks * a.block_rows, a.y.kernel * a.depth);  // a pair (ky, c) of the whole kernel
  const int ky = row / a.depth, behind = ky - part.y.first;
  const int before = behind <= 0 ? 0 : smaller((behind + a.y.step - 1) / a.y.step, part.y.count);
  const bool met = behind >= 0 && behind % a.y.step == 0 && before < part.y.count;
  return before * a.depth + (met ? row % a.depth : 0);
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
