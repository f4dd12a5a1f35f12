#include "retrace/ops/softmax_cross_entropy/softmax_cross_entropy.h"

#include "retrace/ops/cast/cast.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/log/log.h"
#include "retrace/ops/loss.h"
#include "retrace/ops/max/max.h"
#include "retrace/ops/one_hot/one_hot.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/softmax/softmax.h"
#include "retrace/ops/softmax/softmax_axis.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer(const InferCall& call) {
  const auto specs = infer_loss(call);
  if (call.inputs[0].shape.rank() == 0)
    op_error(call, 133, "x has no axes", call.inputs[0].text(), "an axis of classes", "reshape x to [1, classes]");
  return specs;
}

int classes_axis(const Tensor& x, Place place) { return softmax_axis(x, {}, "softmax_cross_entropy", place); }

// -log(softmax(x)).
Tensor surprise(const Tensor& x, Place place) {
  const int classes = classes_axis(x, place);
  const Tensor z = x - max(x, classes, {.keep = true}, place);
  return log(sum(exp(z, place), classes, {.keep = true}, place), place) - z;
}

std::vector<Tensor> lower(const LowerCall& call) {
  const Tensor &x = call.inputs[0], &t = call.inputs[1];
  return {sum(t * surprise(x, call.place), {}, {}, call.place) / observation_count(x)};
}

std::vector<Tensor> gradient(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &t = call.inputs[1];
  const Tensor scale = call.cotangents[0] / observation_count(x);
  Tensor dx, dt;
  if (call.needed[0]) {
    const Tensor weight = sum(t, classes_axis(x, call.place), {.keep = true}, call.place);
    dx = sum_to(scale * (softmax(x, {}, call.place) * weight - t), x, call.place);
  }
  if (call.needed[1]) dt = sum_to(scale * surprise(x, call.place), t, call.place);
  return {dx, dt};
}

}  // namespace

Tensor softmax_cross_entropy(const Tensor& x, const Tensor& t, Place place) {
  static const Op& op = find_op("softmax_cross_entropy");
  const bool numbers = t.type(place) == DType::i32 || t.type(place) == DType::u8;
  if (!numbers || t.rank() + 1 != x.rank(place)) return record_one(op, {}, {x, t}, place);
  return record_one(op, {}, {x, cast(one_hot(t, x.shape().back(), place), x.type(), place)}, place);
}

void define_softmax_cross_entropy(OpTable& table) {
  table.add({.name = "softmax_cross_entropy", .inputs = 2, .infer = infer, .gradient = gradient, .lower = lower});
}

}  // namespace retrace
