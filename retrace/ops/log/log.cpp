#include "retrace/ops/log/log.h"

#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"

namespace retrace {

RT_POINTWISE_RULE(log);

namespace {

std::vector<Tensor> gradient_log(const GradientCall& call) { return {call.cotangents[0] / call.inputs[0]}; }

}  // namespace

Tensor log(const Tensor& x, Place place) {
  static const Op& op = find_op("log");
  return pointwise(op, {x}, place);
}

void define_log(OpTable& table) {
  table.add({.name = "log",
             .infer = infer_pointwise_float,
             .gradient = gradient_log,
             .rule = &log_pointwise,
             .costly = true});
}

}  // namespace retrace
