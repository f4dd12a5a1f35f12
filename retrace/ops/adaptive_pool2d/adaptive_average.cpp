// The mean of windows along an axis.
#include <vector>

#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_cuda.h"
#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_op.h"
#include "retrace/ops/add/add.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_adaptive_average(const InferCall& call) { return {infer_adaptive_pooled(call)}; }
std::vector<TensorSpec> infer_gradient_adaptive_average(const InferCall& call) {
  return {infer_adaptive_spread(call, 1)};
}

void run_adaptive_average(const KernelCall& call) {
  const auto s = adaptive_pooled_shape(call.attributes, call.inputs[0].spec->shape);
  if (call.inputs[0].spec->type == DType::f32)
    return adaptive_average_forward(s, static_cast<const float*>(call.inputs[0].data),
                                    static_cast<float*>(call.outputs[0].data), call.done);
  const auto* x = static_cast<const double*>(call.inputs[0].data);
  auto* y = static_cast<double*>(call.outputs[0].data);
  const auto windows = adaptive_windows(s);
  for (int64_t outer = 0; outer < s.outer; ++outer)
    for (const auto& [first, end] : windows)
      for (int64_t c = 0; c < s.inner; ++c) {
        double sum = 0;
        for (int64_t i = first; i < end; ++i) sum += x[(outer * s.size + i) * s.inner + c];
        *y++ = sum / static_cast<double>(end - first);
      }
}

void run_gradient_adaptive_average(const KernelCall& call) {
  const auto s = adaptive_spread_shape(call.attributes, call.inputs[0].spec->shape);
  const void* given = call.inputs.size() > 1 ? call.inputs[1].data : nullptr;
  if (call.inputs[0].spec->type == DType::f32)
    return adaptive_average_backward(s, static_cast<const float*>(call.inputs[0].data),
                                     static_cast<const float*>(given), static_cast<float*>(call.workspace),
                                     static_cast<float*>(call.outputs[0].data), call.done);
  const auto* dy = static_cast<const double*>(call.inputs[0].data);
  const auto* before = static_cast<const double*>(given);
  auto* dx = static_cast<double*>(call.outputs[0].data);
  const auto windows = adaptive_windows(s);
  const auto covers = adaptive_covers(s);
  int64_t at = 0;
  for (int64_t outer = 0; outer < s.outer; ++outer)
    for (const auto& cover : covers)
      for (int64_t c = 0; c < s.inner; ++c, ++at) {
        double sum = before ? before[at] : 0;
        for (int64_t k = 0; k < cover.count(); ++k) {
          const auto& window = windows[static_cast<size_t>(cover.window(k))];
          sum += 0.0 + dy[(outer * s.windows + cover.window(k)) * s.inner + c] /
                           static_cast<double>(window.end - window.first);
        }
        dx[at] = sum;
      }
}

int64_t workspace_adaptive_average(const InferCall& call) { return call.inputs[0].bytes(); }

Tensor spread_adaptive_average(const GradientCall& call, const Tensor& before) {
  static const Op& op = find_op("adaptive_average_pool_gradient");
  const int64_t axis = call.attributes.integer("axis");
  std::vector<Tensor> inputs{call.cotangents[0]};
  if (before.defined()) inputs.push_back(before);
  const Attributes attributes{{"axis", axis}, {"size", call.inputs[0].shape()[static_cast<int>(axis)]}};
  return record(op, attributes, inputs, call.place)[0];
}

std::vector<Tensor> gradient_adaptive_average(const GradientCall& call) {
  return {spread_adaptive_average(call, Tensor())};
}

// Each kind of window gives a share, and zeros elsewhere: their sum has no -0.
std::vector<Tensor> gradient_of_gradient_adaptive_average(const GradientCall& call) {
  const int64_t axis = call.attributes.integer("axis");
  const int64_t size = call.inputs[0].shape()[static_cast<int>(axis)];
  const Tensor mean = adaptive_average_along(call.cotangents[0], static_cast<int>(axis), size, call.place);
  std::vector<Tensor> found{add(mean, constant_like(mean, 0), call.place)};
  if (call.inputs.size() > 1) found.push_back(call.cotangents[0]);
  return found;
}

}  // namespace

Tensor adaptive_average_along(const Tensor& x, int axis, int64_t size, Place place) {
  static const Op& op = find_op("adaptive_average_pool");
  return record_one(op, {{"axis", int64_t{axis}}, {"size", size}}, {x}, place);
}

void define_adaptive_average(OpTable& table) {
  table.add({.name = "adaptive_average_pool",
             .attributes = {"axis", "size"},
             .infer = infer_adaptive_average,
             .gradient = gradient_adaptive_average,
             .gradient_onto = spread_adaptive_average,
             .kernel = run_adaptive_average,
             .cuda = cuda_adaptive_average_pool,
             .takes_epilogue = true,
             .cut = 0b1});
  table.add({.name = "adaptive_average_pool_gradient",
             .inputs = -1,
             .attributes = {"axis", "size"},
             .infer = infer_gradient_adaptive_average,
             .gradient = gradient_of_gradient_adaptive_average,
             .kernel = run_gradient_adaptive_average,
             .workspace = workspace_adaptive_average,
             .cuda = cuda_adaptive_average_pool_gradient,
             .takes_epilogue = true,
             .cut = 0b11});
}

}  // namespace retrace
