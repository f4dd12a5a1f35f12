#include "retrace/ops/rnn/rnn.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/recurrence.h"
#include "retrace/ops/tanh/tanh.h"

namespace retrace {

RnnResult rnn(const Tensor& x, const RnnParameters& parameters, const Tensor& h, const RecurrenceOptions& options,
              Place place) {
  const auto& [weights, recurrent_weights, bias] = parameters;
  const RecurrenceCall call{"rnn", x, weights, recurrent_weights, 1, {bias}, {h}, place};
  checked_hidden(call);
  check_defined("rnn", bias, place);
  const auto made = run_recurrence(
      call, {h, {}}, false, options, [&](const Tensor& products, const RecurrenceState& before) -> RecurrenceState {
        return {tanh(add(products, matmul(before.h, recurrent_weights, {.transpose_b = true}, place), place), place),
                {}};
      });
  return {made.y, made.state.h};
}

void define_rnn(OpTable&) {}  // no op of its own: a scan of matmul and tanh

}  // namespace retrace
