#include "retrace/ops/identity/identity.h"

#include "retrace/ops/op.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_identity(const InferCall& call) { return {call.inputs[0]}; }
std::vector<Tensor> gradient_identity(const GradientCall& call) { return {call.cotangents[0]}; }

}  // namespace

Tensor identity(const Tensor& x, Place place) {
  static const Op& op = find_op("identity");
  return record_one(op, {}, {x}, place);
}

Tensor stop_gradient(const Tensor& x, Place place) {
  static const Op& op = find_op("stop_gradient");
  return record_one(op, {}, {x}, place);
}

void define_identity(OpTable& table) {
  table.add({.name = "identity",
             .infer = infer_identity,
             .gradient = gradient_identity,
             .view = true,
             .same_as = {{.input = 0}}});
  table.add({.name = "stop_gradient",
             .infer = infer_identity,
             .view = true,
             .same_as = {{.input = 0}}});  // no gradient: that is its purpose
}

}  // namespace retrace
