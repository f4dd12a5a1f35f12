#include "retrace/ops/volume_window.h"

#include <algorithm>

#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/window.h"

namespace retrace {
namespace {

constexpr int64_t kLongest = int64_t{1} << 30;

[[noreturn]] void refuse_window(const char* op, const Tensor& x, const std::string& message,
                                const std::string& expected, Place place, const std::string& help = "") {
  Error error(ErrorKind::usage, 280, fmt::format("{}: {}", op, message));
  error.where(place).got("x " + x.spec().text()).expected(expected);
  if (!help.empty()) error.help(help);
  throw error;
}

}  // namespace

void check_volume(const char* op, const Tensor& x, Place place) {
  check_defined(op, x, place);
  const auto refuse = [&](const std::string& message, const char* expected, const char* help) {
    Error error(ErrorKind::usage, 279, fmt::format("{}: {}", op, message));
    throw error.where(place).got("x " + x.spec().text()).expected(expected).help(help);
  };
  if (x.rank() != 5)
    refuse(fmt::format("x has {} axes", x.rank()), "5 axes [batch,depth,height,width,channels]",
           "of layers, put this one before those that make features, and take data of volumes");
  if (!x.labels().empty() && x.labels() != "BSSSC")
    refuse(fmt::format("x has the labels \"{}\"", x.labels()), "\"BSSSC\", or no labels", "");
}

DepthWindow depth_window(const char* op, const Tensor& x, int64_t size, int64_t stride, int64_t dilation,
                         const EndPadding& padding, Place place) {
  const auto check = [&](const char* what, int64_t value, int64_t least) {
    if (value >= least && value <= kLongest) return;
    refuse_window(op, x, fmt::format("{} of the depth is {}", what, value),
                  fmt::format("a whole number from {} to {}", least, kLongest), place);
  };
  check("the window", size, 1), check("the stride", stride, 1), check("the dilation", dilation, 1);
  check("the padding in front", padding.front, 0), check("the padding behind", padding.behind, 0);
  const int64_t depth = x.shape()[1];
  DepthWindow window{size, stride, dilation, padding.front, padding.behind};
  if (padding.is_same) {
    const Shape both = resolved_padding(same, {depth, 1}, {size, 1}, {stride, 1}, {dilation, 1});
    window.front = both[0], window.back = both[1];
  }
  window.outputs = Window::outputs(depth + window.front + window.back, size, stride, dilation);
  if (window.outputs >= 1) return window;
  refuse_window(op, x,
                fmt::format("a window of {} does not fit into a depth of {}", dilation * (size - 1) + 1,
                            depth + window.front + window.back),
                "a depth with its padding at least as large as the window with its dilation", place,
                "add padding: .padding = rt::same, in a job file padding = \"same\"");
}

Tensor images_of_volume(const Tensor& x, Place place) {
  const Shape& s = x.shape();
  return reshape(x, {s[0] * s[1], s[2], s[3], s[4]}, "", place);
}

Tensor volume_of_images(const Tensor& images, int64_t depth, const Tensor& x, Place place) {
  const Shape& s = images.shape();
  return reshape(images, {x.shape()[0], depth, s[1], s[2], s[3]}, x.labels(), place);
}

Tensor pooled_volume(const Tensor& x, FunctionRef<Tensor(const Tensor&)> image,
                     FunctionRef<Tensor(const Tensor&)> depth, Place place) {
  const Tensor flat = image(images_of_volume(x, place));
  const Shape& s = flat.shape();
  const Tensor y = depth(reshape(flat, {x.shape()[0], x.shape()[1], s[1] * s[2], s[3]}, "", place));
  return reshape(y, {x.shape()[0], y.shape()[1], s[1], s[2], s[3]}, x.labels(), place);
}

Padding depth_padding(const char* op, const Tensor& x, const DepthWindow& window, Place place) {
  if (std::max(window.front, window.back) >= window.size)
    refuse_window(op, x,
                  fmt::format("a window of {} would lie outside of the depth with its padding {} and {}", window.size,
                              window.front, window.back),
                  "padding smaller than the window on each side", place);
  return {window.front, window.back, 0, 0};
}

Tensor image_of_volume(const Tensor& x, Place place) {
  const Shape& s = x.shape();
  return reshape(x, {s[0], s[1] * s[2], s[3], s[4]}, "", place);
}

Tensor volume_of_pixel(const Tensor& pixel, const Tensor& x, Place place) {
  return reshape(pixel, {x.shape()[0], 1, 1, 1, x.shape()[4]}, x.labels(), place);
}

}  // namespace retrace
