#include "retrace/ops/binary_cross_entropy/binary_cross_entropy.h"

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/loss.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/relu/relu.h"
#include "retrace/ops/sigmoid/sigmoid.h"
#include "retrace/ops/softplus/softplus.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {
namespace {

std::vector<Tensor> lower_binary_cross_entropy(const LowerCall& call) {
  const Tensor &x = call.inputs[0], &t = call.inputs[1];
  const Tensor straight = relu(x, call.place) - x * t;
  const Tensor term = straight + softplus(-abs(x, call.place), call.place);
  return {sum(term, {}, {}, call.place) / x.size()};
}

std::vector<Tensor> gradient_binary_cross_entropy(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &t = call.inputs[1];
  const Tensor scale = call.cotangents[0] / x.size();
  std::vector<Tensor> result(2);
  if (call.needed[0]) result[0] = sum_to(scale * (sigmoid(x, call.place) - t), x, call.place);
  if (call.needed[1]) result[1] = sum_to(-(scale * x), t, call.place);
  return result;
}

}  // namespace

Tensor binary_cross_entropy(const Tensor& x, const Tensor& t, Place place) {
  static const Op& op = find_op("binary_cross_entropy");
  return record_one(op, {}, {x, t}, place);
}

void define_binary_cross_entropy(OpTable& table) {
  table.add({.name = "binary_cross_entropy",
             .inputs = 2,
             .infer = infer_loss,
             .gradient = gradient_binary_cross_entropy,
             .lower = lower_binary_cross_entropy,
             .i64 = true});  // infer names what takes class numbers
}

}  // namespace retrace
