#include "retrace/ops/gru/gru.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/recurrence.h"
#include "retrace/ops/sigmoid/sigmoid.h"
#include "retrace/ops/split/split.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/ops/tanh/tanh.h"

namespace retrace {
namespace {

Tensor next_gru(const Tensor& from_x, const Tensor& before, const GruParameters& parameters, Place place) {
  const Tensor product = matmul(before, parameters.recurrent_weights, {.transpose_b = true}, place);
  const auto a = split(from_x, 1, 3, place), b = split(add(product, parameters.recurrent_bias, place), 1, 3, place);
  const Tensor r = sigmoid(add(a[0], b[0], place), place), z = sigmoid(add(a[1], b[1], place), place);
  const Tensor n = tanh(add(a[2], multiply(r, b[2], place), place), place);
  return add(multiply(subtract(constant_like(z, 1), z, place), n, place), multiply(z, before, place), place);
}

}  // namespace

GruResult gru(const Tensor& x, const GruParameters& parameters, const Tensor& h, const RecurrenceOptions& options,
              Place place) {
  const auto& [weights, recurrent_weights, bias, recurrent_bias] = parameters;
  const RecurrenceCall call{"gru", x, weights, recurrent_weights, 3, {bias, recurrent_bias}, {h}, place};
  checked_hidden(call);
  for (const Tensor* tensor : {&bias, &recurrent_bias}) check_defined("gru", *tensor, place);
  const auto made = run_recurrence(call, {h, {}}, false, options,
                                   [&](const Tensor& products, const RecurrenceState& before) -> RecurrenceState {
                                     return {next_gru(products, before.h, parameters, place), {}};
                                   });
  return {made.y, made.state.h};
}

void define_gru(OpTable&) {}  // no op of its own: a scan of matmul, sigmoid and tanh

}  // namespace retrace
