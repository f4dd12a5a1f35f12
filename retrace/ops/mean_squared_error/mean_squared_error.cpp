#include "retrace/ops/mean_squared_error/mean_squared_error.h"

#include "retrace/ops/loss.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {
namespace {

Tensor sum_of_squares(const LowerCall& call) {
  const Tensor difference = call.inputs[0] - call.inputs[1];
  return sum(difference * difference, {}, {}, call.place);
}

std::vector<Tensor> lower_half(const LowerCall& call) {
  return {sum_of_squares(call) / (2 * observation_count(call.inputs[0]))};
}

std::vector<Tensor> lower_plain(const LowerCall& call) { return {sum_of_squares(call) / call.inputs[0].size()}; }

std::vector<Tensor> scaled_difference(const GradientCall& call, const Tensor& scale) {
  const Tensor &y = call.inputs[0], &t = call.inputs[1];
  const Tensor dy = scale * (y - t);
  return {call.needed[0] ? sum_to(dy, y, call.place) : Tensor(),
          call.needed[1] ? sum_to(-dy, t, call.place) : Tensor()};
}

std::vector<Tensor> gradient_half(const GradientCall& call) {
  return scaled_difference(call, call.cotangents[0] / observation_count(call.inputs[0]));
}

std::vector<Tensor> gradient_plain(const GradientCall& call) {
  return scaled_difference(call, 2 * call.cotangents[0] / call.inputs[0].size());
}

}  // namespace

Tensor half_mean_squared_error(const Tensor& y, const Tensor& t, Place place) {
  static const Op& op = find_op("half_mean_squared_error");
  return record_one(op, {}, {y, t}, place);
}

Tensor mean_squared_error(const Tensor& y, const Tensor& t, Place place) {
  static const Op& op = find_op("mean_squared_error");
  return record_one(op, {}, {y, t}, place);
}

void define_mean_squared_error(OpTable& table) {
  table.add({.name = "half_mean_squared_error",
             .inputs = 2,
             .infer = infer_loss,
             .gradient = gradient_half,
             .lower = lower_half,
             .i64 = true});  // infer names what takes class numbers
  table.add({.name = "mean_squared_error",
             .inputs = 2,
             .infer = infer_loss,
             .gradient = gradient_plain,
             .lower = lower_plain,
             .i64 = true});  // infer names what takes class numbers
}

}  // namespace retrace
