#include "retrace/ops/cross_entropy/cross_entropy.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/log/log.h"
#include "retrace/ops/loss.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

Tensor away_from_zero(const Tensor& y, Place place) {
  const Tensor least = constant_like(y, 0x1p-126);
  return where(less(y, least, place), least, y, place);
}

std::vector<Tensor> lower_cross_entropy(const LowerCall& call) {
  const Tensor &y = call.inputs[0], &t = call.inputs[1];
  const Tensor total = sum(t * log(away_from_zero(y, call.place), call.place), {}, {}, call.place);
  return {-(total / observation_count(y))};
}

std::vector<Tensor> gradient_cross_entropy(const GradientCall& call) {
  const Tensor &y = call.inputs[0], &t = call.inputs[1];
  const Tensor scale = -(call.cotangents[0] / observation_count(y));
  const Tensor bounded = away_from_zero(y, call.place);
  return {call.needed[0] ? sum_to(scale * (t / bounded), y, call.place) : Tensor(),
          call.needed[1] ? sum_to(scale * log(bounded, call.place), t, call.place) : Tensor()};
}

}  // namespace

Tensor cross_entropy(const Tensor& y, const Tensor& t, Place place) {
  static const Op& op = find_op("cross_entropy");
  return record_one(op, {}, {y, t}, place);
}

void define_cross_entropy(OpTable& table) {
  table.add({.name = "cross_entropy",
             .inputs = 2,
             .infer = infer_loss,
             .gradient = gradient_cross_entropy,
             .lower = lower_cross_entropy,
             .i64 = true});  // infer names what takes class numbers
}

}  // namespace retrace
