#include "retrace/ops/adam/adam_op.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/square/square.h"
#include "retrace/ops/stored_state/stored_state_op.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/ops/update.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_adam(const InferCall& call) {
  return infer_update(call, {"weights", "gradient", "mean", "mean_square"},
                      {"rate", "root", "decay", "rest", "square_decay", "square_rest", "epsilon"}, 3);
}

// The stored average decay * average + rest * x.
Tensor average(const Tensor& decay, const Tensor& before, const Tensor& rest, const Tensor& x, Place place) {
  return stored_state(add(multiply(decay, before, place), multiply(rest, x, place), place), place);
}

std::vector<Tensor> lower_adam(const LowerCall& call) {
  const auto &w = call.inputs[0], &g = call.inputs[1];
  const auto &rate = call.inputs[4], &root = call.inputs[5], &epsilon = call.inputs[10];
  const auto place = call.place;
  const Tensor mean = average(call.inputs[6], call.inputs[2], call.inputs[7], g, place);
  const Tensor mean_square = average(call.inputs[8], call.inputs[3], call.inputs[9], square(g, place), place);
  const Tensor below = add(divide(sqrt(mean_square, place), root, place), epsilon, place);
  return {subtract(w, divide(multiply(rate, mean, place), below, place), place), mean, mean_square};
}

}  // namespace

AdamStep adam(const Tensor& weights, const Tensor& gradient, const Tensor& mean, const Tensor& mean_square,
              const AdamNumbers& numbers, Place place) {
  static const Op& op = find_op("adam");
  const auto& [rate, root, decay, rest, square_decay, square_rest, epsilon] = numbers;
  const Tensor inputs[] = {weights, gradient, mean,         mean_square, rate,   root,
                           decay,   rest,     square_decay, square_rest, epsilon};
  const auto outputs = record(op, {}, inputs, place);
  return {outputs[0], outputs[1], outputs[2]};
}

void define_adam(OpTable& table) {
  // No gradient: updates stand outside of what is differentiated.
  table.add({.name = "adam", .inputs = 11, .infer = infer_adam, .lower = lower_adam});
}

}  // namespace retrace
