#include "retrace/ops/kl_divergence/kl_divergence.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/log/log.h"
#include "retrace/ops/loss.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

// value where t is not 0, else 0.
Tensor where_present(const Tensor& t, const Tensor& value, Place place) {
  const Tensor zero = constant_like(t, 0);
  return where(equal(t, zero, place), zero, value, place);
}

std::vector<Tensor> lower_kl_divergence(const LowerCall& call) {
  const Tensor &y = call.inputs[0], &t = call.inputs[1];
  const Tensor term = where_present(t, t * (log(t, call.place) - y), call.place);
  return {sum(term, {}, {}, call.place) / observation_count(y)};
}

std::vector<Tensor> gradient_kl_divergence(const GradientCall& call) {
  const Tensor &y = call.inputs[0], &t = call.inputs[1];
  const Tensor scale = call.cotangents[0] / observation_count(y);
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = sum_to(-(scale * t), y, call.place);
  if (call.needed[1]) {
    const Tensor slope = scale * ((log(t, call.place) - y) + constant_like(y, 1));
    result[1] = sum_to(where_present(t, slope, call.place), t, call.place);
  }
  return result;
}

}  // namespace

Tensor kl_divergence(const Tensor& y, const Tensor& t, Place place) {
  static const Op& op = find_op("kl_divergence");
  return record_one(op, {}, {y, t}, place);
}

void define_kl_divergence(OpTable& table) {
  table.add({.name = "kl_divergence",
             .inputs = 2,
             .infer = infer_loss,
             .gradient = gradient_kl_divergence,
             .lower = lower_kl_divergence,
             .i64 = true});  // infer names what takes class numbers
}

}  // namespace retrace
