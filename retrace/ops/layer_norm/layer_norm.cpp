#include "retrace/ops/layer_norm/layer_norm.h"

#include "retrace/ops/moments/moments.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {
namespace {

constexpr const char* kLayerNormArguments[] = {"x", "scale", "offset"};

std::vector<TensorSpec> infer_layer_norm(const InferCall& call) {
  check_float(call, 0, "x");
  const TensorSpec& x = call.inputs[0];
  if (x.shape.rank() == 0)
    op_error(call, 133, "x has no axes", "x " + x.text(), "an axis of features", "reshape x to [1, features]");
  const int64_t features = x.shape.back();
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    check_same_type(call, static_cast<int>(i), kLayerNormArguments[i]);
    if (call.inputs[i].shape == Shape{features}) continue;
    op_error(call, 135, fmt::format("{} does not fit the {} features of x", kLayerNormArguments[i], features),
             fmt::format("x {}, {} {}", x.text(), kLayerNormArguments[i], call.inputs[i].text()),
             fmt::format("the shape [{}]", features));
  }
  return {x};
}

int features_axis(const Tensor& x) { return x.rank() - 1; }

Tensor row_sum(const Tensor& x, Place place) { return sum(x, features_axis(x), {.keep = true}, place); }

// An argument with one element a feature, with the axes of x where these have labels.
Tensor per_feature(const Tensor& argument, const Tensor& x, Place place) {
  if (x.labels().empty()) return reshape(argument, argument.shape(), "", place);
  Shape shape;
  for (int i = 0; i + 1 < x.rank(); ++i) shape.push_back(1);
  shape.push_back(argument.size());
  return reshape(argument, shape, x.labels(), place);
}

struct Normalised {
  Tensor inv, xhat;
};

// inv = 1 / sqrt(square + epsilon), xhat = x * inv.
Normalised normalised(const Tensor& x, const Tensor& square, const Attributes& attributes, Place place) {
  const Tensor inv = 1 / sqrt(square + constant_like(x, attributes.number("epsilon")), place);
  return {inv, x * inv};
}

Normalised layer_normalised(const Tensor& x, const Attributes& attributes, Place place) {
  const auto [mean, m2] = moments(x, features_axis(x), {.keep = true}, place);
  return normalised(x - mean, m2 / x.shape().back(), attributes, place);
}

Normalised rms_normalised(const Tensor& x, const Attributes& attributes, Place place) {
  return normalised(x, row_sum(x * x, place) / x.shape().back(), attributes, place);
}

std::vector<Tensor> lower_layer_norm(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  const Tensor xhat = layer_normalised(x, call.attributes, call.place).xhat;
  return {xhat * per_feature(call.inputs[1], x, call.place) + per_feature(call.inputs[2], x, call.place)};
}

std::vector<Tensor> lower_rms_norm(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  return {rms_normalised(x, call.attributes, call.place).xhat * per_feature(call.inputs[1], x, call.place)};
}

// What both gradients share: dx for `centred` values, and dscale.
std::vector<Tensor> gradient_of(const GradientCall& call, const Normalised& n, bool centred) {
  const Tensor &x = call.inputs[0], &scale = call.inputs[1], &dy = call.cotangents[0];
  const int64_t features = x.shape().back();
  std::vector<Tensor> result(call.inputs.size());
  if (call.needed[0]) {
    const Tensor g = dy * per_feature(scale, x, call.place);
    const Tensor along = n.xhat * (row_sum(g * n.xhat, call.place) / features);
    result[0] = n.inv * ((centred ? g - row_sum(g, call.place) / features : g) - along);
  }
  if (call.needed[1]) result[1] = sum_to(dy * n.xhat, scale, call.place);
  return result;
}

std::vector<Tensor> gradient_layer_norm(const GradientCall& call) {
  auto result = gradient_of(call, layer_normalised(call.inputs[0], call.attributes, call.place), true);
  if (call.needed[2]) result[2] = sum_to(call.cotangents[0], call.inputs[2], call.place);
  return result;
}

std::vector<Tensor> gradient_rms_norm(const GradientCall& call) {
  return gradient_of(call, rms_normalised(call.inputs[0], call.attributes, call.place), false);
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, const LayerNormOptions& options,
                  Place place) {
  static const Op& op = find_op("layer_norm");
  return record_one(op, {{"epsilon", options.epsilon}}, {x, scale, offset}, place);
}

Tensor rms_norm(const Tensor& x, const Tensor& scale, const RmsNormOptions& options, Place place) {
  static const Op& op = find_op("rms_norm");
  return record_one(op, {{"epsilon", options.epsilon}}, {x, scale}, place);
}

void define_layer_norm(OpTable& table) {
  table.add({.name = "layer_norm",
             .inputs = 3,
             .attributes = {"epsilon"},
             .infer = infer_layer_norm,
             .gradient = gradient_layer_norm,
             .lower = lower_layer_norm});
  table.add({.name = "rms_norm",
             .inputs = 2,
             .attributes = {"epsilon"},
             .infer = infer_layer_norm,
             .gradient = gradient_rms_norm,
             .lower = lower_rms_norm});
}

}  // namespace retrace
