// The greatest elements of windows along an axis.
#include <vector>

#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_cuda.h"
#include "retrace/ops/adaptive_pool2d/adaptive_pool2d_op.h"
#include "retrace/ops/add/add.h"

namespace retrace {
namespace {

// The number of an element in a window fits a byte unless windows are longer.
DType index_type_adaptive_max(const AdaptiveShape& s) {
  constexpr int64_t kMostU8 = 256;
  return s.longest() <= kMostU8 ? DType::u8 : DType::i32;
}

template <class Body>
void with_adaptive_index(const void* index, DType type, Body body) {
  if (type == DType::u8)
    body(static_cast<const uint8_t*>(index));
  else
    body(static_cast<const int32_t*>(index));
}

// Input 1 is the index that belongs to windows of that shape.
void check_adaptive_index(const InferCall& call, const Shape& expected, const AdaptiveShape& s) {
  check_type(call, 1, "index", index_type_adaptive_max(s));
  if (call.inputs[1].shape == expected) return;
  op_error(call, 287, "an array cannot become another by the index of other windows", "index " + call.inputs[1].text(),
           "the shape " + expected.text());
}

std::vector<TensorSpec> infer_adaptive_max(const InferCall& call) {
  const TensorSpec y = infer_adaptive_pooled(call);
  const auto s = adaptive_pooled_shape(call.attributes, call.inputs[0].shape);
  return {y, {index_type_adaptive_max(s), y.shape, y.labels, y.part}};
}

std::vector<TensorSpec> infer_gather_adaptive_max(const InferCall& call) {
  const TensorSpec y = infer_adaptive_pooled(call);
  check_adaptive_index(call, y.shape, adaptive_pooled_shape(call.attributes, call.inputs[0].shape));
  return {y};
}

std::vector<TensorSpec> infer_gradient_adaptive_max(const InferCall& call) {
  if (call.inputs.size() < 2)
    op_error(call, 287, "dy cannot become x without an index", call.inputs[0].text(), "dy and an index");
  const TensorSpec x = infer_adaptive_spread(call, 2);
  check_adaptive_index(call, call.inputs[0].shape, adaptive_spread_shape(call.attributes, call.inputs[0].shape));
  return {x};
}

template <class Index>
void double_adaptive_max(const AdaptiveShape& s, const double* x, double* y, Index* index) {
  const auto windows = adaptive_windows(s);
  for (int64_t outer = 0; outer < s.outer; ++outer)
    for (const auto& [first, end] : windows)
      for (int64_t c = 0; c < s.inner; ++c, ++y, ++index) {
        *y = x[(outer * s.size + first) * s.inner + c], *index = 0;
        for (int64_t i = first + 1; i < end; ++i) {
          const double next = x[(outer * s.size + i) * s.inner + c];
          if (*y != *y || next <= *y) continue;
          *y = next, *index = static_cast<Index>(i - first);
        }
      }
}

void run_adaptive_max(const KernelCall& call) {
  const auto s = adaptive_pooled_shape(call.attributes, call.inputs[0].spec->shape);
  const auto& x = call.inputs[0];
  void* y = call.outputs[0].data;
  const auto go = [&](auto* index) {
    if (x.spec->type == DType::f64)
      double_adaptive_max(s, static_cast<const double*>(x.data), static_cast<double*>(y), index);
    else
      adaptive_max_forward(s, static_cast<const float*>(x.data), static_cast<float*>(y), index);
  };
  if (call.outputs[1].spec->type == DType::u8)
    go(static_cast<uint8_t*>(call.outputs[1].data));
  else
    go(static_cast<int32_t*>(call.outputs[1].data));
}

template <class T>
void gather_adaptive_max(const AdaptiveShape& s, const KernelCall& call) {
  const auto* x = static_cast<const T*>(call.inputs[0].data);
  auto* y = static_cast<T*>(call.outputs[0].data);
  const auto windows = adaptive_windows(s);
  with_adaptive_index(call.inputs[1].data, call.inputs[1].spec->type, [&](const auto* index) {
    for (int64_t outer = 0; outer < s.outer; ++outer)
      for (const auto& window : windows)
        for (int64_t c = 0; c < s.inner; ++c) *y++ = x[(outer * s.size + window.first + *index++) * s.inner + c];
  });
}

void run_gather_adaptive_max(const KernelCall& call) {
  const auto s = adaptive_pooled_shape(call.attributes, call.inputs[0].spec->shape);
  if (call.inputs[0].spec->type == DType::f32)
    gather_adaptive_max<float>(s, call);
  else
    gather_adaptive_max<double>(s, call);
}

template <class Index>
void double_gradient_adaptive_max(const AdaptiveShape& s, const double* dy, const Index* index, const double* before,
                                  double* dx) {
  const auto windows = adaptive_windows(s);
  const auto covers = adaptive_covers(s);
  int64_t at = 0;
  for (int64_t outer = 0; outer < s.outer; ++outer)
    for (int64_t i = 0; i < s.size; ++i)
      for (int64_t c = 0; c < s.inner; ++c, ++at) {
        const auto& cover = covers[static_cast<size_t>(i)];
        double sum = before ? before[at] : 0;
        for (int64_t k = 0; k < cover.count(); ++k) {
          const int64_t window = cover.window(k), from = (outer * s.windows + window) * s.inner + c;
          sum += index[from] == i - windows[static_cast<size_t>(window)].first ? 0.0 + dy[from] : 0.0;
        }
        dx[at] = sum;
      }
}

void run_gradient_adaptive_max(const KernelCall& call) {
  const auto s = adaptive_spread_shape(call.attributes, call.inputs[0].spec->shape);
  const void *dy = call.inputs[0].data, *before = call.inputs.size() > 2 ? call.inputs[2].data : nullptr;
  void* dx = call.outputs[0].data;
  with_adaptive_index(call.inputs[1].data, call.inputs[1].spec->type, [&](const auto* index) {
    if (call.inputs[0].spec->type == DType::f64)
      return double_gradient_adaptive_max(s, static_cast<const double*>(dy), index, static_cast<const double*>(before),
                                          static_cast<double*>(dx));
    adaptive_max_backward(s, static_cast<const float*>(dy), index, static_cast<const float*>(before),
                          static_cast<float*>(dx), call.done);
  });
}

// To each element what the windows that it won give, added to `before`.
Tensor spread_won(const Tensor& dy, const Tensor& index, const Tensor& before, const GradientCall& call) {
  static const Op& op = find_op("adaptive_max_pool_gradient");
  const int64_t axis = call.attributes.integer("axis");
  std::vector<Tensor> inputs{dy, index};
  if (before.defined()) inputs.push_back(before);
  const Attributes attributes{{"axis", axis}, {"size", call.inputs[0].shape()[static_cast<int>(axis)]}};
  return record(op, attributes, inputs, call.place)[0];
}

Tensor onto_adaptive_max(const GradientCall& call, const Tensor& before) {
  return spread_won(call.cotangents[0], call.outputs[1], before, call);
}
std::vector<Tensor> gradient_adaptive_max(const GradientCall& call) { return {onto_adaptive_max(call, Tensor())}; }

Tensor onto_gather_adaptive_max(const GradientCall& call, const Tensor& before) {
  return spread_won(call.cotangents[0], call.inputs[1], before, call);
}
std::vector<Tensor> gradient_gather_adaptive_max(const GradientCall& call) {
  return {onto_gather_adaptive_max(call, Tensor()), Tensor()};
}

// Each kind of window gives what it gathered, and zeros elsewhere: their sum has no -0.
std::vector<Tensor> gradient_of_gradient_adaptive_max(const GradientCall& call) {
  static const Op& op = find_op("adaptive_max_pool_gather");
  const int64_t axis = call.attributes.integer("axis");
  const Attributes attributes{{"axis", axis}, {"size", call.inputs[0].shape()[static_cast<int>(axis)]}};
  const Tensor won = record_one(op, attributes, {call.cotangents[0], call.inputs[1]}, call.place);
  std::vector<Tensor> found{add(won, constant_like(won, 0), call.place), Tensor()};
  if (call.inputs.size() > 2) found.push_back(call.cotangents[0]);
  return found;
}

}  // namespace

Tensor adaptive_max_along(const Tensor& x, int axis, int64_t size, Place place) {
  static const Op& op = find_op("adaptive_max_pool");
  return record_one(op, {{"axis", int64_t{axis}}, {"size", size}}, {x}, place);
}

void define_adaptive_max(OpTable& table) {
  table.add({.name = "adaptive_max_pool",
             .attributes = {"axis", "size"},
             .infer = infer_adaptive_max,
             .gradient = gradient_adaptive_max,
             .gradient_onto = onto_adaptive_max,
             .kernel = run_adaptive_max,
             .cuda = cuda_adaptive_max_pool,
             .cut = 0b1});
  table.add({.name = "adaptive_max_pool_gradient",
             .inputs = -1,
             .attributes = {"axis", "size"},
             .infer = infer_gradient_adaptive_max,
             .gradient = gradient_of_gradient_adaptive_max,
             .kernel = run_gradient_adaptive_max,
             .cuda = cuda_adaptive_max_pool_gradient,
             .takes_epilogue = true,
             .cut = 0b111});
  table.add({.name = "adaptive_max_pool_gather",
             .inputs = 2,
             .attributes = {"axis", "size"},
             .infer = infer_gather_adaptive_max,
             .gradient = gradient_gather_adaptive_max,
             .gradient_onto = onto_gather_adaptive_max,
             .kernel = run_gather_adaptive_max,
             .cuda = cuda_adaptive_max_pool_gather,
             .cut = 0b11});
}

}  // namespace retrace
