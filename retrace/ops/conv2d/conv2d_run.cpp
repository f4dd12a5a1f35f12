#include <algorithm>
#include <utility>

#include "retrace/ops/conv2d/conv2d_family.h"
#include "retrace/ops/conv2d/conv2d_kernel.h"

namespace retrace {

Conv2dShape conv2d_shape(const Attributes& attributes, const Shape& x, const Shape& w, const Shape& y) {
  const Shape &stride = attributes.list("stride"), &dilation = attributes.list("dilation");
  const Shape& padding = attributes.list("padding");
  Conv2dShape shape;
  shape.batch = x[0], shape.in_height = x[1], shape.in_width = x[2], shape.in_channels = x[3];
  shape.kernel_height = w[0], shape.kernel_width = w[1];
  shape.out_height = y[1], shape.out_width = y[2], shape.out_channels = y[3];
  shape.groups = attributes.integer("groups");
  shape.stride_y = stride[0], shape.stride_x = stride[1];
  shape.dilation_y = dilation[0], shape.dilation_x = dilation[1];
  shape.pad_top = padding[0], shape.pad_left = padding[2];
  return shape;
}

namespace {

enum Role { image, weights, result };  // of a tensor in the forward convolution

// The roles of inputs 0 and 1 and of the output of an op.
struct Roles {
  Role first, second, output;
};
constexpr Roles kForward{image, weights, result}, kInputGradient{result, weights, image},
    kFilterGradient{image, result, weights};

Conv2dShape shape_of_conv2d_run(const Attributes& attributes, Roles roles, const Shape& first, const Shape& second,
                                const Shape& output) {
  const Shape* by_role[3] = {};
  by_role[roles.first] = &first, by_role[roles.second] = &second, by_role[roles.output] = &output;
  return conv2d_shape(attributes, *by_role[image], *by_role[weights], *by_role[result]);
}

Conv2dShape shape_of_conv2d_run(const KernelCall& call, Roles roles) {
  return shape_of_conv2d_run(call.attributes, roles, call.inputs[0].spec->shape, call.inputs[1].spec->shape,
                             call.outputs[0].spec->shape);
}

int64_t workspace_conv2d_run(const InferCall& call, Roles roles, int64_t (*bytes)(const Conv2dShape&)) {
  const auto output = call.op.infer(call)[0];
  if (output.type != DType::f32 || output.count() == 0 || call.inputs[0].shape[0] == 0) return 0;
  return bytes(shape_of_conv2d_run(call.attributes, roles, call.inputs[0].shape, call.inputs[1].shape, output.shape));
}

// Calls term(x index, weights index, y index) for every product of the convolution, by ascending y, then in the order
// of the forward sum.
template <class Term>
void for_each_term(const Conv2dShape& s, Term term) {
  const int64_t in_group = s.in_channels / s.groups, out_group = s.out_channels / s.groups;
  int64_t y = 0;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < s.out_height; ++oy)
      for (int64_t ox = 0; ox < s.out_width; ++ox)
        for (int64_t o = 0; o < s.out_channels; ++o, ++y)
          for (int64_t ky = 0; ky < s.kernel_height; ++ky) {
            const int64_t iy = oy * s.stride_y + ky * s.dilation_y - s.pad_top;
            if (iy < 0 || iy >= s.in_height) continue;
            for (int64_t c = 0; c < in_group; ++c)
              for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
                const int64_t ix = ox * s.stride_x + kx * s.dilation_x - s.pad_left;
                if (ix < 0 || ix >= s.in_width) continue;
                const int64_t channel = o / out_group * in_group + c;
                term(((n * s.in_height + iy) * s.in_width + ix) * s.in_channels + channel,
                     ((ky * s.kernel_width + kx) * in_group + c) * s.out_channels + o, y);
              }
          }
}

struct Doubles {
  const double *first, *second;
  double* out;
};

Doubles cleared_doubles(const KernelCall& call) {
  auto* out = static_cast<double*>(call.outputs[0].data);
  std::fill_n(out, call.outputs[0].spec->count(), 0.0);
  return {static_cast<const double*>(call.inputs[0].data), static_cast<const double*>(call.inputs[1].data), out};
}

struct Floats {
  const float *first, *second;
  float* out;
};

Floats floats(const KernelCall& call) {
  return {static_cast<const float*>(call.inputs[0].data), static_cast<const float*>(call.inputs[1].data),
          static_cast<float*>(call.outputs[0].data)};
}

bool is_double(const KernelCall& call) { return call.outputs[0].spec->type == DType::f64; }

// An empty batch: the sum over nothing is 0. True if that was all there is to do.
bool run_empty(const KernelCall& call) {
  const auto& out = *call.outputs[0].spec;
  if (out.count() != 0 && call.inputs[0].spec->count() != 0) return false;
  std::fill_n(static_cast<char*>(call.outputs[0].data), out.bytes(), char{0});
  return true;
}

using Forward = void (*)(const Conv2dShape&, const float*, const float*, float*, void*, ContractionDone*);

void run_tiled(const KernelCall& call, const Conv2dShape& shape, Forward kernel) {
  const auto [first, second, out] = floats(call);
  if (!call.done) return kernel(shape, first, second, out, call.workspace, nullptr);
  ContractionDone done = *call.done;
  kernel(shape, first, second, out, call.workspace, &done);
}

}  // namespace

void run_conv2d(const KernelCall& call) {
  if (run_empty(call)) return;
  const Conv2dShape shape = shape_of_conv2d_run(call, kForward);
  if (!is_double(call)) return run_tiled(call, shape, conv2d_forward);
  const auto [x, w, y] = cleared_doubles(call);
  for_each_term(shape, [&, x = x, w = w, y = y](int64_t i, int64_t k, int64_t o) { y[o] += x[i] * w[k]; });
}

void run_conv2d_input_gradient(const KernelCall& call) {
  if (run_empty(call)) return;
  const Conv2dShape shape = shape_of_conv2d_run(call, kInputGradient);
  if (!is_double(call)) return run_tiled(call, shape, conv2d_input_gradient);
  const auto [dy, w, dx] = cleared_doubles(call);
  for_each_term(shape, [&, dy = dy, w = w, dx = dx](int64_t i, int64_t k, int64_t o) { dx[i] += dy[o] * w[k]; });
}

void run_conv2d_filter_gradient(const KernelCall& call) {
  if (run_empty(call)) return;
  const Conv2dShape shape = shape_of_conv2d_run(call, kFilterGradient);
  if (!is_double(call)) {
    const auto [x, dy, dw] = floats(call);
    return conv2d_filter_gradient(shape, x, dy, dw, call.workspace);
  }
  const auto [x, dy, dw] = cleared_doubles(call);
  for_each_term(shape, [&, x = x, dy = dy, dw = dw](int64_t i, int64_t k, int64_t o) { dw[k] += x[i] * dy[o]; });
}

int64_t workspace_conv2d(const InferCall& call) {
  return workspace_conv2d_run(call, kForward, conv2d_forward_workspace);
}
int64_t workspace_conv2d_input_gradient(const InferCall& call) {
  return workspace_conv2d_run(call, kInputGradient, conv2d_input_gradient_workspace);
}
int64_t workspace_conv2d_filter_gradient(const InferCall& call) {
  return workspace_conv2d_run(call, kFilterGradient, conv2d_filter_gradient_workspace);
}

}  // namespace retrace
