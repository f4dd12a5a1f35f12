#include "retrace/ops/sgdm/sgdm_op.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/stored_state/stored_state_op.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/ops/update.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_sgdm(const InferCall& call) {
  return infer_update(call, {"weights", "gradient", "velocity"}, {"rate", "momentum"}, 2);
}

std::vector<Tensor> lower_sgdm(const LowerCall& call) {
  const auto &w = call.inputs[0], &g = call.inputs[1], &velocity = call.inputs[2], &rate = call.inputs[3],
             &momentum = call.inputs[4];
  const auto place = call.place;
  const Tensor v = stored_state(subtract(multiply(momentum, velocity, place), multiply(rate, g, place), place), place);
  return {add(w, v, place), v};
}

}  // namespace

SgdmStep sgdm(const Tensor& weights, const Tensor& gradient, const Tensor& velocity, const Tensor& rate,
              const Tensor& momentum, Place place) {
  static const Op& op = find_op("sgdm");
  const Tensor inputs[] = {weights, gradient, velocity, rate, momentum};
  const auto outputs = record(op, {}, inputs, place);
  return {outputs[0], outputs[1]};
}

void define_sgdm(OpTable& table) {
  // No gradient: updates stand outside of what is differentiated.
  table.add({.name = "sgdm", .inputs = 5, .infer = infer_sgdm, .lower = lower_sgdm});
}

}  // namespace retrace
