#include "retrace/ops/max_unpool2d/max_unpool2d.h"

#include <algorithm>

#include "retrace/ops/add/add.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/pool/pooling.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/take_along_axis/take_along_axis.h"

namespace retrace {
namespace {

constexpr int64_t kMostPixels = (int64_t{1} << 31) - 1;

bool too_large(int64_t height, int64_t width) { return width > 0 && height > kMostPixels / width; }

// `first`, first + step .. along one axis of images, on the device of x.
Tensor ramp(const Tensor& x, int64_t count, int64_t first, int64_t step, const Shape& shape, Place place) {
  const Tensor numbers = Tensor::arange(static_cast<double>(count), DType::i32, place).to(x.device(), place);
  const Tensor steps = multiply(numbers, constant_like(numbers, static_cast<double>(step)), place);
  return reshape(add(steps, constant_like(steps, static_cast<double>(first)), place), shape, "", place);
}

// From numbers of elements within windows to places in the image.
Tensor places_of(const Tensor& number, const Window& w, Place place) {
  const Tensor in_window = reshape(cast(number, DType::i32, place), number.shape(), "", place);
  const Tensor row = divide(in_window, constant_like(in_window, static_cast<double>(w.width)), place);
  const Tensor skipped = multiply(row, constant_like(row, static_cast<double>(w.in_width - w.width)), place);
  const int64_t height = w.out_height(), width = w.out_width();
  const Tensor down =
      ramp(in_window, height, -w.top * w.in_width - w.left, w.stride_y * w.in_width, {height, 1, 1}, place);
  const Tensor right = ramp(in_window, width, 0, w.stride_x, {width, 1}, place);
  const Tensor places = add(add(in_window, skipped, place), add(down, right, place), place);
  return reshape(places, number.shape(), number.labels(), place);
}

void check_max_unpool2d(const Tensor& y, const Tensor& index, Pair size, Place place) {
  check_defined("max_unpool2d", y, place);
  check_defined("max_unpool2d", index, place);
  const bool image = y.rank(place) == 4 && is_float(y.type()) && (y.labels().empty() || y.labels() == "BSSC");
  if (!image || index.type() != DType::i32 || index.shape() != y.shape())
    throw Error(ErrorKind::usage, 288, "max_unpool2d: y and the index are no pooled images")
        .where(place)
        .got("y " + y.spec().text() + ", index " + index.spec().text())
        .expected("y f32 or f64 [batch,height,width,channels], unlabelled or \"BSSC\", and an i32 of this shape")
        .help("max_pool2d_with_index makes both");
  if (std::min(size.y, size.x) < 0 || too_large(size.y, size.x))
    throw Error(ErrorKind::usage, 289, fmt::format("max_unpool2d: {} x {} is no size of an image", size.y, size.x))
        .where(place)
        .got("y " + y.spec().text())
        .expected("the height and the width of what was pooled, with fewer than 2^31 pixels");
}

}  // namespace

MaxPooled max_pool2d_with_index(const Tensor& x, Pair pool, const MaxPool2dOptions& options, Place place) {
  static const Op& op = find_op("max_pool2d");
  check_defined(op.name, x, place);
  if (x.rank(place) == 4 && too_large(x.shape()[1], x.shape()[2]))
    throw Error(ErrorKind::usage, 289, "max_pool2d_with_index: an image has 2^31 pixels or more")
        .where(place)
        .got("x " + x.spec().text())
        .expected("fewer than 2^31 pixels, which an i32 can number");
  const Attributes attributes = pool_attributes(x, pool, options.stride.of(pool), options.padding);
  const auto made = record(op, attributes, std::array{x}, place);
  return {made[0], places_of(made[1], pool_shape(attributes, x.shape()).window, place)};
}

Tensor max_unpool2d(const Tensor& y, const Tensor& index, Pair size, Place place) {
  check_max_unpool2d(y, index, size, place);
  const int64_t batch = y.shape()[0], pixels = y.shape()[1] * y.shape()[2], channels = y.shape()[3];
  const Shape lines{batch, pixels, channels}, image{batch, size.y * size.x, channels};
  const Tensor from = reshape(y, lines, "", place), to = reshape(index, lines, "", place);
  const Tensor zeros = broadcast(constant_like(from, 0), image, "", place);
  return reshape(scatter_add(zeros, 1, to, from, place), {batch, size.y, size.x, channels}, y.labels(), place);
}

void define_max_unpool2d(OpTable&) {}  // no op of its own: it is scatter_add

}  // namespace retrace
