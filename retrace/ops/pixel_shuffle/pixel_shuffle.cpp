#include "retrace/ops/pixel_shuffle/pixel_shuffle.h"

#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace {
namespace {

// Images whose axis 3 (of channels) or axes 1 and 2 (of pixels) are multiples of `divisor`.
void check_shuffle(const Tensor& x, int64_t factor, int first, int last, int64_t divisor, const char* function,
                   Place place) {
  const auto fits = [&] {
    if (factor < 1 || factor > 1024 || x.rank() != 4) return false;
    for (int axis = first; axis <= last; ++axis)
      if (x.shape()[axis] % divisor != 0) return false;
    return true;
  };
  if (fits()) return;
  throw Error(ErrorKind::usage, 541, fmt::format("{}: x does not fit the factor {}", function, factor))
      .where(place)
      .got(fmt::format("x {}", x.spec(place).text()))
      .expected(first == 3 ? "[batch,height,width,channels], factor * factor dividing the channels; factor 1 to 1024"
                           : "[batch,height,width,channels], factor dividing height and width; factor 1 to 1024");
}

}  // namespace

Tensor pixel_shuffle(const Tensor& x, int64_t factor, Place place) {
  check_shuffle(x, factor, 3, 3, factor * factor, "pixel_shuffle", place);
  const Shape& shape = x.shape();
  const int64_t batch = shape[0], height = shape[1], width = shape[2], channels = shape[3] / (factor * factor);
  const Tensor parts = reshape(x, {batch, height, width, channels, factor, factor}, "", place);
  const Tensor pixels = transpose(parts, {0, 1, 4, 2, 5, 3}, place);
  return reshape(pixels, {batch, height * factor, width * factor, channels}, x.labels(), place);
}

Tensor pixel_unshuffle(const Tensor& x, int64_t factor, Place place) {
  check_shuffle(x, factor, 1, 2, factor, "pixel_unshuffle", place);
  const Shape& shape = x.shape();
  const int64_t batch = shape[0], height = shape[1] / factor, width = shape[2] / factor, channels = shape[3];
  const Tensor parts = reshape(x, {batch, height, factor, width, factor, channels}, "", place);
  const Tensor pixels = transpose(parts, {0, 1, 3, 5, 2, 4}, place);
  return reshape(pixels, {batch, height, width, channels * factor * factor}, x.labels(), place);
}

void define_pixel_shuffle(OpTable&) {}  // no op of its own: it is made of reshape and transpose

}  // namespace retrace
