#include "retrace/ops/window.h"

#include <algorithm>

namespace retrace {
namespace {

constexpr int64_t kLargest = int64_t{1} << 30;  // of any size here: products of two stay in range

void check_range(const InferCall& call, const char* what, int64_t y, int64_t x, int64_t least) {
  if (std::min(y, x) >= least && std::max(y, x) <= kLargest) return;
  op_error(call, 150, fmt::format("{} {} x {} is not usable", what, y, x), call.inputs[0].text(),
           fmt::format("whole numbers from {} to {}", least, kLargest));
}

int64_t same_total(int64_t in, int64_t window, int64_t stride, int64_t dilation) {
  const int64_t out = (in + stride - 1) / stride;
  return std::max<int64_t>((out - 1) * stride + (window - 1) * dilation + 1 - in, 0);
}

}  // namespace

int64_t Window::outputs(int64_t in, int64_t window, int64_t stride, int64_t dilation) {
  const int64_t room = in - dilation * (window - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

Shape resolved_padding(const Padding& padding, Pair in, Pair window, Pair stride, Pair dilation) {
  if (!padding.is_same) return {padding.top, padding.bottom, padding.left, padding.right};
  if (stride.y < 1 || stride.x < 1) return {0, 0, 0, 0};  // refused later
  const int64_t y = same_total(in.y, window.y, stride.y, dilation.y);
  const int64_t x = same_total(in.x, window.x, stride.x, dilation.x);
  return {y / 2, y - y / 2, x / 2, x - x / 2};
}

void check_window(const InferCall& call, const Window& window) {
  check_range(call, "the image size", window.in_height, window.in_width, 0);
  check_range(call, "the window size", window.height, window.width, 1);
  check_range(call, "stride", window.stride_y, window.stride_x, 1);
  check_range(call, "dilation", window.dilation_y, window.dilation_x, 1);
  check_range(call, "padding (top, left)", window.top, window.left, 0);
  check_range(call, "padding (bottom, right)", window.bottom, window.right, 0);
  if (window.out_height() >= 1 && window.out_width() >= 1) return;
  op_error(call, 151,
           fmt::format("a {} x {} window does not fit into a {} x {} image",
                       window.dilation_y * (window.height - 1) + 1, window.dilation_x * (window.width - 1) + 1,
                       window.in_height + window.top + window.bottom, window.in_width + window.left + window.right),
           call.inputs[0].text(), "an image with its padding at least as large as the window with its dilation",
           "add padding: .padding = rt::same, in a job file padding = \"same\"");
}

void check_padding_below_window(const InferCall& call, const Window& window) {
  if (std::max(window.top, window.bottom) < window.height && std::max(window.left, window.right) < window.width) return;
  op_error(call, 152, "a window would lie outside of the image",
           fmt::format("padding [{},{},{},{}], window {} x {}", window.top, window.bottom, window.left, window.right,
                       window.height, window.width),
           "padding smaller than the window on each side");
}

void check_image(const InferCall& call, int input, const char* argument) {
  check_float(call, input, argument);
  const auto& spec = call.inputs[static_cast<size_t>(input)];
  if (spec.shape.rank() != 4)
    op_error(call, 133, fmt::format("{} has {} axes", argument, spec.shape.rank()),
             fmt::format("{} {}", argument, spec.text()), "4 axes [batch,height,width,channels]",
             fmt::format("reshape {} first; of layers, put this one before those that make features, such as linear, "
                         "and take data of images",
                         argument));
  if (spec.labels.empty() || spec.labels.text() == "BSSC") return;
  op_error(call, 153, fmt::format("{} has the labels \"{}\"", argument, spec.labels.text()),
           fmt::format("{} {}", argument, spec.text()), "\"BSSC\", or no labels");
}

}  // namespace retrace
