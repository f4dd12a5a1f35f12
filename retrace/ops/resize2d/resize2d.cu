// Images of another size, one thread an element of the result.
#include "retrace/base/scalar.h"
#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/resize2d/resize2d_cuda.h"

namespace retrace::cuda {
namespace {

struct ResizePlace {
  unsigned n, c;
  int y, x;
};

RT_DEVICE ResizePlace place_of(const Resize2dArguments& a, unsigned i) {
  const auto pixel = a.channels.split(i), row = a.width.split(pixel.quotient), image = a.height.split(row.quotient);
  return {image.quotient, pixel.remainder, static_cast<int>(image.remainder), static_cast<int>(row.remainder)};
}

// An element of images of that size.
RT_DEVICE unsigned element(const Resize2dArguments& a, int height, int width, const ResizePlace& p, int y, int x) {
  const unsigned row = p.n * static_cast<unsigned>(height) + static_cast<unsigned>(y);
  return (row * static_cast<unsigned>(width) + static_cast<unsigned>(x)) * a.channels.divisor + p.c;
}

}  // namespace

RT_KERNEL(resize2d, Resize2dArguments, a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const ResizePlace p = place_of(a, i);
  const auto y = a.y.source<float>(p.y), x = a.x.source<float>(p.x);
  float sides[2] = {0, 0};
  for (int k = 0; k < 2; ++k) {
    if (k == 1 && x.weight == 0) break;
    sides[k] = a.from[element(a, a.y.in, a.x.in, p, y.low, x.low + k)];
    if (y.weight != 0)
      sides[k] = rules::fma(y.weight, a.from[element(a, a.y.in, a.x.in, p, y.low + 1, x.low + k)],
                            (1.0f - y.weight) * sides[k]);
  }
  a.to[i] = x.weight != 0 ? rules::fma(x.weight, sides[1], (1.0f - x.weight) * sides[0]) : sides[0];
}

RT_KERNEL(resize2d_gradient, Resize2dArguments, a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  const ResizePlace p = place_of(a, i);
  const ResizeRange rows = a.y.outputs(p.y), columns = a.x.outputs(p.x);
  float sum = 0;
  for (int ox = columns.first; ox < columns.end; ++ox) {
    const float wx = a.x.source<float>(ox).of(p.x);
    if (wx == 0) continue;
    float column = 0;
    for (int oy = rows.first; oy < rows.end; ++oy) {
      const float wy = a.y.source<float>(oy).of(p.y);
      if (wy != 0) column = rules::fma(wy, a.from[element(a, a.y.out, a.x.out, p, oy, ox)], column);
    }
    sum = rules::fma(wx, column, sum);
  }
  a.to[i] = sum;
}

}  // namespace retrace::cuda
