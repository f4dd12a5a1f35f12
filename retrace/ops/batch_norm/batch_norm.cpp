#include "retrace/ops/batch_norm/batch_norm.h"

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/moments/moments.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {
namespace {

Shape position_axes(const Tensor& x) {
  Shape axes;
  for (int i = 0; i + 1 < x.rank(); ++i) axes.push_back(i);
  return axes;
}

int64_t position_count(const Tensor& x) { return x.shape().count(0, x.rank() - 1); }

// The names of the arguments, in order.
constexpr const char* kBatchNormArguments[] = {"x", "scale", "offset", "mean", "variance"};

std::vector<TensorSpec> infer_batch_norm(const InferCall& call) {
  check_float(call, 0, "x");
  const auto& x = call.inputs[0];
  if (x.shape.rank() < 2)
    op_error(call, 133, fmt::format("x has {} axes", x.shape.rank()), "x " + x.text(),
             "two axes or more, the last of them the channels", "reshape x to [positions, channels]");
  if (!x.labels.empty() && x.labels[x.labels.size() - 1] != 'C')
    op_error(call, 143, "the last axis of x is not labelled C", "x " + x.text(), "channels on the last axis");
  const int64_t channels = x.shape.back();
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    check_same_type(call, static_cast<int>(i), kBatchNormArguments[i]);
    if (call.inputs[i].shape == Shape{channels}) continue;
    op_error(call, 135, fmt::format("{} does not fit the {} channels of x", kBatchNormArguments[i], channels),
             fmt::format("x {}, {} {}", x.text(), kBatchNormArguments[i], call.inputs[i].text()),
             fmt::format("the shape [{}]", channels));
  }
  if (call.inputs.size() > 3) return {x};
  const TensorSpec per_channel{x.type, {channels}, x.labels.empty() ? Labels() : Labels("C"), {}};
  return {x, per_channel, per_channel};
}

struct Normalisation {
  Tensor centred, inv, scale;  // x - mean, 1 / sqrt(variance + epsilon), inv * the scale argument
};

// An argument with one element a channel, labelled as x demands.
Tensor per_channel(const Tensor& argument, const Tensor& x, Place place) {
  return reshape(argument, argument.shape(), x.labels().empty() ? "" : "C", place);
}

Normalisation normalisation(const Tensor& x, const Tensor& scale, const Tensor& mean, const Tensor& variance,
                            const Attributes& attributes, Place place) {
  const Tensor epsilon = constant_like(x, attributes.number("epsilon"));
  const Tensor inv = 1 / sqrt(per_channel(variance, x, place) + epsilon, place);
  return {x - per_channel(mean, x, place), inv, inv * per_channel(scale, x, place)};
}

std::vector<Tensor> lower_batch_norm(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  const auto [mean, m2] = moments(x, position_axes(x), {}, call.place);
  const auto n = normalisation(x, call.inputs[1], mean, m2 / position_count(x), call.attributes, call.place);
  return {n.centred * n.scale + per_channel(call.inputs[2], x, call.place), mean, m2};
}

std::vector<Tensor> gradient_batch_norm(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &mean = call.outputs[1], &m2 = call.outputs[2];
  const Tensor &dy = call.cotangents[0], &dmean = call.cotangents[1], &dm2 = call.cotangents[2];
  const int64_t count = position_count(x);
  Tensor dx, dscale, doffset;
  const auto n = normalisation(x, call.inputs[1], mean, m2 / count, call.attributes, call.place);
  if (dy.defined()) {
    const Shape positions = position_axes(x);
    const Tensor xhat = n.centred * n.inv;
    doffset = sum(dy, positions, {}, call.place);
    dscale = sum(dy * xhat, positions, {}, call.place);
    dx = n.scale * (dy - doffset / count - xhat * (dscale / count));
    dscale = sum_to(dscale, call.inputs[1], call.place);
    doffset = sum_to(doffset, call.inputs[2], call.place);
  }
  if (dm2.defined()) {
    const Tensor through_m2 = n.centred * (2 * dm2);
    dx = dx.defined() ? dx + through_m2 : through_m2;
  }
  if (dmean.defined()) {
    const Tensor through_mean = dmean / count;
    dx = dx.defined() ? dx + through_mean : broadcast(through_mean, x.shape(), x.labels(), call.place);
  }
  return {dx, dscale, doffset};
}

std::vector<Tensor> lower_inference(const LowerCall& call) {
  const Tensor& x = call.inputs[0];
  const auto n = normalisation(x, call.inputs[1], call.inputs[3], call.inputs[4], call.attributes, call.place);
  return {n.centred * n.scale + per_channel(call.inputs[2], x, call.place)};
}

std::vector<Tensor> gradient_inference(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &scale = call.inputs[1], &variance = call.inputs[4], &dy = call.cotangents[0];
  const auto n = normalisation(x, scale, call.inputs[3], variance, call.attributes, call.place);
  const Shape positions = position_axes(x);
  std::vector<Tensor> result(5);
  if (call.needed[0]) result[0] = dy * n.scale;
  const Tensor doffset = sum(dy, positions, {}, call.place);
  const Tensor dscale = sum(dy * (n.centred * n.inv), positions, {}, call.place);
  if (call.needed[1]) result[1] = sum_to(dscale, scale, call.place);
  if (call.needed[2]) result[2] = sum_to(doffset, call.inputs[2], call.place);
  if (call.needed[3]) result[3] = sum_to(-(doffset * n.scale), call.inputs[3], call.place);
  if (call.needed[4])  // d inv / d variance = -inv^3 / 2
    result[4] = sum_to(-(dscale * per_channel(scale, x, call.place) * (n.inv * n.inv) / 2), variance, call.place);
  return result;
}

}  // namespace

BatchNormResult batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, const BatchNormOptions& options,
                           Place place) {
  static const Op& op = find_op("batch_norm");
  const Tensor inputs[] = {x, scale, offset};
  const auto results = record(op, {{"epsilon", options.epsilon}}, inputs, place);
  const int64_t count = position_count(x);
  if (count > INT32_MAX)
    throw Error(ErrorKind::usage, 144, fmt::format("batch_norm: {} positions are too many to count", count))
        .where(place)
        .got("x " + x.spec().text())
        .expected("fewer than 2^31 positions");
  Tree moments{{"count", constant(static_cast<double>(count), DType::i32)}, {"mean", results[1]}, {"m2", results[2]}};
  moments.set_mark("moments");
  return {results[0], std::move(moments)};
}

Tensor batch_norm_inference(const Tensor& x, const Tensor& scale, const Tensor& offset, const Tensor& mean,
                            const Tensor& variance, const BatchNormOptions& options, Place place) {
  static const Op& op = find_op("batch_norm_inference");
  return record_one(op, {{"epsilon", options.epsilon}}, {x, scale, offset, mean, variance}, place);
}

BatchNormResult batch_norm(const Tensor& x, const Tree& parameters, const Tree& state, Phase phase,
                           const BatchNormOptions& options, Place place) {
  const Tensor &scale = parameters["scale"], &offset = parameters["offset"];
  if (phase == Phase::train) return batch_norm(x, scale, offset, options, place);
  return {batch_norm_inference(x, scale, offset, state["mean"], state["variance"], options, place), Tree()};
}

void define_batch_norm(OpTable& table) {
  table.add({.name = "batch_norm",
             .inputs = 3,
             .attributes = {"epsilon"},
             .infer = infer_batch_norm,
             .gradient = gradient_batch_norm,
             .lower = lower_batch_norm});
  table.add({.name = "batch_norm_inference",
             .inputs = 5,
             .attributes = {"epsilon"},
             .infer = infer_batch_norm,
             .gradient = gradient_inference,
             .lower = lower_inference});
}

}  // namespace retrace
