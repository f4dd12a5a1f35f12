#include "retrace/ops/log_sigmoid/log_sigmoid.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sigmoid/sigmoid.h"
#include "retrace/ops/softplus/softplus.h"

namespace retrace {
namespace {

std::vector<Tensor> lower_log_sigmoid(const LowerCall& call) { return {-softplus(-call.inputs[0], call.place)}; }

std::vector<Tensor> gradient_log_sigmoid(const GradientCall& call) {
  return {call.cotangents[0] * sigmoid(-call.inputs[0], call.place)};
}

}  // namespace

Tensor log_sigmoid(const Tensor& x, Place place) {
  static const Op& op = find_op("log_sigmoid");
  return pointwise(op, {x}, place);
}

void define_log_sigmoid(OpTable& table) {
  table.add({.name = "log_sigmoid",
             .infer = infer_pointwise_float,
             .gradient = gradient_log_sigmoid,
             .lower = lower_log_sigmoid});
}

}  // namespace retrace
