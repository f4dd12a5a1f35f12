#include "retrace/ops/conv2d/conv2d_family.h"

namespace retrace {
namespace {

Window window_of(const InferCall& call, int64_t in_height, int64_t in_width, int64_t height, int64_t width) {
  const Shape &stride = call.attributes.list("stride"), &dilation = call.attributes.list("dilation");
  const Shape& padding = call.attributes.list("padding");
  const Window window{in_height,   in_width,    height,     width,      stride[0],  stride[1],
                      dilation[0], dilation[1], padding[0], padding[1], padding[2], padding[3]};
  check_window(call, window);
  return window;
}

std::string arguments(const InferCall& call, const char* a, const char* b) {
  return fmt::format("{} {}, {} {}", a, call.inputs[0].text(), b, call.inputs[1].text());
}

void check_groups(const InferCall& call, int64_t channels, int64_t filters, const std::string& got) {
  const int64_t groups = call.attributes.integer("groups");
  if (channels >= 1 && filters >= 1 && channels % groups == 0 && filters % groups == 0) return;
  op_error(call, 154, fmt::format("{} channels and {} filters do not make {} groups", channels, filters, groups), got,
           "at least one of each, and groups that divide the channels and the filters");
}

// Products of a size with the number of groups stay in range.
void check_group_count(const InferCall& call, const std::string& got) {
  constexpr int64_t most = 1 << 20;
  const int64_t groups = call.attributes.integer("groups");
  if (groups >= 1 && groups <= most) return;
  op_error(call, 154, fmt::format("{} groups are not possible", groups), got, fmt::format("1 to {} groups", most));
}

// `channels` of the image, given that the weights are [kh,kw,channels/groups,filters].
void check_channels(const InferCall& call, const Shape& weights, int64_t channels) {
  const int64_t groups = call.attributes.integer("groups");
  if (weights[2] * groups == channels) return;
  op_error(call, 155, fmt::format("x has {} channels, weights expect {}", channels, weights[2] * groups),
           arguments(call, "x", "weights"), "channels of x = channels of the weights x groups",
           channels % groups == 0 ? fmt::format("give the weights the shape [{},{},{},{}]", weights[0], weights[1],
                                                channels / groups, weights[3])
                                  : "");
}

void check_weights_conv2d_infer(const InferCall& call, const char* image) {
  check_image(call, 0, image);
  check_same_type(call, 1, "weights");
  check_rank(call, 1, "weights", 4, "[kernel height,kernel width,channels/groups,filters]");
  check_group_count(call, arguments(call, image, "weights"));
}

// dy must be what the convolution of such an image makes.
void check_cotangent(const InferCall& call, const Window& window, const Shape& dy, const std::string& got) {
  if (dy[1] == window.out_height() && dy[2] == window.out_width()) return;
  op_error(call, 156,
           fmt::format("an image of {} x {} does not lead to one of {} x {}", window.in_height, window.in_width, dy[1],
                       dy[2]),
           got, fmt::format("dy of {} x {}", window.out_height(), window.out_width()));
}

}  // namespace

std::vector<TensorSpec> infer_conv2d(const InferCall& call) {
  check_weights_conv2d_infer(call, "x");
  const auto &x = call.inputs[0], &weights = call.inputs[1];
  check_channels(call, weights.shape, x.shape[3]);
  check_groups(call, x.shape[3], weights.shape[3], arguments(call, "x", "weights"));
  const Window window = window_of(call, x.shape[1], x.shape[2], weights.shape[0], weights.shape[1]);
  return {{x.type, {x.shape[0], window.out_height(), window.out_width(), weights.shape[3]}, x.labels, x.part}};
}

std::vector<TensorSpec> infer_conv2d_input_gradient(const InferCall& call) {
  check_weights_conv2d_infer(call, "dy");
  const auto &dy = call.inputs[0], &weights = call.inputs[1];
  const Shape& size = call.attributes.list("size");
  const auto got = arguments(call, "dy", "weights");
  const int64_t groups = call.attributes.integer("groups");
  if (dy.shape[3] != weights.shape[3])
    op_error(call, 155, fmt::format("dy has {} channels, weights have {} filters", dy.shape[3], weights.shape[3]), got,
             "channels of dy = filters of the weights (their last axis)");
  check_groups(call, weights.shape[2] * groups, weights.shape[3], got);
  const Window window = window_of(call, size[0], size[1], weights.shape[0], weights.shape[1]);
  check_cotangent(call, window, dy.shape, got);
  return {{dy.type, {dy.shape[0], size[0], size[1], weights.shape[2] * groups}, dy.labels, dy.part}};
}

std::vector<TensorSpec> infer_conv2d_filter_gradient(const InferCall& call) {
  check_image(call, 0, "x");
  check_same_type(call, 1, "dy");
  check_rank(call, 1, "dy", 4, "[batch,height,width,filters]");
  check_group_count(call, arguments(call, "x", "dy"));
  const auto &x = call.inputs[0], &dy = call.inputs[1];
  const auto got = arguments(call, "x", "dy");
  if (x.shape[0] != dy.shape[0])
    op_error(call, 164, fmt::format("x has {} samples, dy has {}", x.shape[0], dy.shape[0]), got, "equal batch sizes");
  check_groups(call, x.shape[3], dy.shape[3], got);
  const Shape& kernel = call.attributes.list("kernel");
  check_cotangent(call, window_of(call, x.shape[1], x.shape[2], kernel[0], kernel[1]), dy.shape, got);
  return {{x.type, {kernel[0], kernel[1], x.shape[3] / call.attributes.integer("groups"), dy.shape[3]}, {}, {}}};
}

int64_t subtree_conv2d_filter_gradient(const InferCall& call) {
  const Shape& dy = call.inputs[1].shape;
  return samples_of_subtree(dy[1] * dy[2], 256);
}

}  // namespace retrace
