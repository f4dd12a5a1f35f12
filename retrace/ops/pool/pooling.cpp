#include "retrace/ops/pool/pooling.h"

#include <algorithm>

#include "retrace/base/joined.h"
#include "retrace/device/cpu/threads.h"

namespace retrace {

void run_row_pieces(int64_t rows, int64_t row_size, int64_t read, PoolDone done,
                    FunctionRef<void(int64_t, int64_t)> body) {
  constexpr int64_t kPieceElements = 8192, kReadPerWritten = 8;
  const int64_t step = std::max<int64_t>(1, kPieceElements / std::max<int64_t>({1, row_size, read / kReadPerWritten}));
  run_pieces((rows + step - 1) / step, [&](int64_t piece) {
    const int64_t first = piece * step, end = std::min(rows, first + step);
    body(first, end);
    if (done) (*done)(first* row_size, end* row_size);
  });
}

PoolShape pool_shape(const Attributes& attributes, const Shape& image) {
  const Shape &pool = attributes.list("pool"), &stride = attributes.list("stride"),
              &padding = attributes.list("padding");
  PoolShape shape{image[0], image[3], {}};
  auto& window = shape.window;
  window.in_height = image[1], window.in_width = image[2];
  window.height = pool[0], window.width = pool[1];
  window.stride_y = stride[0], window.stride_x = stride[1];
  window.top = padding[0], window.bottom = padding[1], window.left = padding[2], window.right = padding[3];
  return shape;
}

PoolGrid pool_grid(const PoolShape& shape) {
  const Window& w = shape.window;
  const auto narrow = [](int64_t size) { return static_cast<int>(size); };
  const auto by = [](int64_t size) { return cuda::Divisor(static_cast<unsigned>(size)); };
  return {.channels = narrow(shape.channels),
          .in_height = narrow(w.in_height),
          .in_width = narrow(w.in_width),
          .out_height = narrow(w.out_height()),
          .out_width = narrow(w.out_width()),
          .height = narrow(w.height),
          .width = narrow(w.width),
          .stride_y = narrow(w.stride_y),
          .stride_x = narrow(w.stride_x),
          .top = narrow(w.top),
          .left = narrow(w.left),
          .by_channels = by(shape.channels),
          .by_in_height = by(w.in_height),
          .by_in_width = by(w.in_width),
          .by_out_height = by(w.out_height()),
          .by_out_width = by(w.out_width()),
          .by_width = by(w.width),
          .by_stride_y = by(w.stride_y),
          .by_stride_x = by(w.stride_x)};
}

std::string pool_grid_text(const PoolGrid& g) {
  const int numbers[] = {g.channels, g.in_height, g.in_width, g.out_height, g.out_width, g.height,
                         g.width,    g.stride_y,  g.stride_x, g.top,        g.left};
  std::string text = fmt::format("PoolGrid grid{{{}", joined(numbers, ", "));
  for (const auto& by : {g.by_channels, g.by_in_height, g.by_in_width, g.by_out_height, g.by_out_width, g.by_width,
                         g.by_stride_y, g.by_stride_x})
    text += fmt::format(", Divisor({}u)", by.divisor);
  return text + "}";
}

Attributes pool_attributes(const Tensor& x, Pair pool, Pair stride, const Padding& padding) {
  const Pair in = x.rank() == 4 ? Pair(x.shape()[1], x.shape()[2]) : Pair(1);  // else the op's own check speaks
  return {{"pool", Shape{pool.y, pool.x}},
          {"stride", Shape{stride.y, stride.x}},
          {"padding", resolved_padding(padding, in, pool, stride, 1)}};
}

TensorSpec infer_pooled(const InferCall& call, const char* argument) {
  check_image(call, 0, argument);
  const auto& x = call.inputs[0];
  const auto shape = pool_shape(call.attributes, x.shape);
  check_window(call, shape.window);
  check_padding_below_window(call, shape.window);
  return {x.type, {x.shape[0], shape.window.out_height(), shape.window.out_width(), x.shape[3]}, x.labels, x.part};
}

TensorSpec infer_unpooled(const InferCall& call, const char* argument) {
  check_image(call, 0, argument);
  const auto& dy = call.inputs[0];
  const Shape& size = call.attributes.list("size");
  const Shape image{dy.shape[0], size[0], size[1], dy.shape[3]};
  const auto window = pool_shape(call.attributes, image).window;
  check_window(call, window);
  check_padding_below_window(call, window);
  if (dy.shape[1] != window.out_height() || dy.shape[2] != window.out_width())
    op_error(
        call, 156,
        fmt::format("an image of {} x {} does not lead to one of {} x {}", size[0], size[1], dy.shape[1], dy.shape[2]),
        fmt::format("{} {}", argument, dy.text()),
        fmt::format("{} of {} x {}", argument, window.out_height(), window.out_width()));
  return {dy.type, image, dy.labels, dy.part};
}

}  // namespace retrace
