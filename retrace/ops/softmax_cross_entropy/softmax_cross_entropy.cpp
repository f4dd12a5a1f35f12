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
#include "retrace/ops/softmax_cross_entropy/class_numbers.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_softmax_cross_entropy(const InferCall& call) {
  const auto specs = infer_loss(call);
  const TensorSpec& x = call.inputs[0];
  if (x.shape.rank() == 0)
    op_error(call, 133, "x has no axes", x.text(), "an axis of classes", "reshape x to [1, classes]");
  const int labelled = x.labels.find('C');
  if (x.shape[labelled >= 0 ? labelled : x.shape.rank() - 1] == 0)
    op_error(call, 284, "there are no classes", x.text(), "one class or more, along axis C or the last");
  return specs;
}

int classes_axis(const Tensor& x, Place place) { return softmax_axis(x, {}, "softmax_cross_entropy", place); }

std::vector<Tensor> lower_softmax_cross_entropy(const LowerCall& call) {
  const Tensor &x = call.inputs[0], &t = call.inputs[1];
  return {sum(t * surprise(x, call.place), {}, {}, call.place) / observation_count(x)};
}

std::vector<Tensor> gradient_softmax_cross_entropy(const GradientCall& call) {
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

// Of x, the number of each position's class, and the numbers of all classes, which are the last axis.
std::vector<TensorSpec> infer_classes(const InferCall& call) {
  check_float(call, 0, "the prediction");
  return {{call.inputs[0].type, {}, {}, {}}};
}

// The terms of the other classes, 0 times their surprise, change no sum, but where a surprise is infinite they make
// NaN.
std::vector<Tensor> lower_classes(const LowerCall& call) {
  const Tensor t = hits(call.inputs[1], call.inputs[2], call.place);
  return {sum(t * surprise(call.inputs[0], call.place), {}, {}, call.place) / observation_count(call.inputs[0])};
}

// As above for targets whose sum is 1.
std::vector<Tensor> gradient_classes(const GradientCall& call) {
  const Tensor& x = call.inputs[0];
  if (!call.needed[0]) return {Tensor(), Tensor(), Tensor()};
  const Tensor scale = call.cotangents[0] / observation_count(x);
  const Tensor t = hits(call.inputs[1], call.inputs[2], call.place);
  return {sum_to(scale * (softmax(x, {}, call.place) - t), x, call.place), Tensor(), Tensor()};
}

}  // namespace

Tensor surprise(const Tensor& x, Place place) {
  const int classes = classes_axis(x, place);
  const Tensor z = x - max(x, classes, {.keep = true}, place);
  return log(sum(exp(z, place), classes, {.keep = true}, place), place) - z;
}

Tensor softmax_cross_entropy(const Tensor& x, const Tensor& t, Place place) {
  static const Op &op = find_op("softmax_cross_entropy"), &of_classes = find_op("class_cross_entropy");
  if (!are_class_numbers(x, t, place)) return record_one(op, {}, {x, t}, place);
  if (!can_compare_classes(x, t))
    return record_one(op, {}, {x, cast(one_hot(t, x.shape().back(), place), x.type(), place)}, place);
  const auto [numbers, classes] = class_targets(x, t, place);
  return record_one(of_classes, {}, {x, numbers, classes}, place);
}

void define_softmax_cross_entropy(OpTable& table) {
  table.add({.name = "softmax_cross_entropy",
             .inputs = 2,
             .infer = infer_softmax_cross_entropy,
             .gradient = gradient_softmax_cross_entropy,
             .lower = lower_softmax_cross_entropy,
             .i64 = true});  // infer names what takes class numbers
  table.add({.name = "class_cross_entropy",
             .inputs = 3,
             .infer = infer_classes,
             .gradient = gradient_classes,
             .lower = lower_classes});
  define_class_numbers(table);
  define_weighted_cross_entropy(table);
}

}  // namespace retrace
