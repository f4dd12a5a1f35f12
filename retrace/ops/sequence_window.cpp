#include "retrace/ops/sequence_window.h"

#include "retrace/ops/reshape/reshape.h"

namespace retrace {

Tensor image_of_sequence(const char* op, const Tensor& x, Place place) {
  check_defined(op, x, place);
  const Shape& s = x.shape();
  if (s.rank() != 3)
    throw Error(ErrorKind::usage, 271, fmt::format("{}: x has {} axes", op, s.rank()))
        .where(place)
        .got(fmt::format("x {}", x.spec().text()))
        .expected("3 axes [batch,length,channels]")
        .help("of layers, put this one before those that make features, and take data of sequences");
  if (!x.labels().empty() && x.labels() != "BTC")
    throw Error(ErrorKind::usage, 272, fmt::format("{}: x has the labels \"{}\"", op, x.labels()))
        .where(place)
        .got(fmt::format("x {}", x.spec().text()))
        .expected("\"BTC\", or no labels");
  return reshape(x, {s[0], 1, s[1], s[2]}, x.labels().empty() ? "" : "BSSC", place);
}

Tensor sequence_of_image(const Tensor& image, const Tensor& x, Place place) {
  const Shape& s = image.shape();
  return reshape(image, {s[0], s[2], s[3]}, x.labels(), place);
}

Padding image_padding(const EndPadding& padding, int64_t size, int64_t dilation) {
  if (padding.is_same) return same;
  if (padding.is_causal) return {0, 0, (size - 1) * dilation, 0};
  return {0, 0, padding.front, padding.behind};
}

}  // namespace retrace
