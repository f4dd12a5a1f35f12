#include "retrace/ops/recurrence.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/linear/linear.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/scan/scan.h"
#include "retrace/ops/transpose/transpose.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

[[noreturn]] void refuse(const RecurrenceCall& call, const std::string& message, const std::string& expected) {
  throw Error(ErrorKind::usage, 242, fmt::format("{}: {}", call.name, message))
      .where(call.place)
      .got(fmt::format("x {}, weights {}, recurrent weights {}", call.x.spec().text(), call.weights.spec().text(),
                       call.recurrent_weights.spec().text()))
      .expected(expected);
}

void check_all(const RecurrenceCall& call, const std::vector<Tensor>& tensors, const Shape& shape, const char* what) {
  for (const Tensor& tensor : tensors)
    if (tensor.defined() && (!(tensor.shape() == shape) || tensor.type() != call.x.type()))
      refuse(call, fmt::format("a {} is {}", what, tensor.spec().text()),
             fmt::format("{}{}", name_of(call.x.type()), shape.text()));
}

}  // namespace

int64_t checked_hidden(const RecurrenceCall& call) {
  for (const Tensor* x : {&call.x, &call.weights, &call.recurrent_weights}) check_defined(call.name, *x, call.place);
  const DType type = call.x.type();
  if (!is_float(type) || call.weights.type() != type || call.recurrent_weights.type() != type)
    refuse(call, "the types do not fit", "one type, f32 or f64");
  if (call.x.rank() != 3 || call.x.shape()[1] == 0)
    refuse(call, "x is no sequence", "x [batch,length,features] of one position or more");
  const Shape &weights = call.weights.shape(), &recurrent = call.recurrent_weights.shape();
  const int64_t hidden = recurrent.rank() == 2 ? recurrent[1] : 0;
  const Shape wanted{call.gates * hidden, call.x.shape()[2]}, wanted_recurrent{call.gates * hidden, hidden};
  if (!(weights == wanted) || !(recurrent == wanted_recurrent))
    refuse(call, "the weights do not fit",
           fmt::format("weights [{0} hidden,{1}] and recurrent weights [{0} hidden,hidden]", call.gates,
                       call.x.shape()[2]));
  check_all(call, call.biases, {call.gates * hidden}, "bias");
  check_all(call, call.states, {call.x.shape()[0], hidden}, "state");
  return hidden;
}

namespace {

Tensor state_or_zeros(const RecurrenceCall& call, const Tensor& state) {
  if (state.defined()) return reshape(state, state.shape(), "", call.place);
  const Shape shape{call.x.shape()[0], call.recurrent_weights.shape()[1]};
  return broadcast(constant_like(call.x, 0), shape, "", call.place);
}

// Positions first, bool [length,batch,1]; undefined where all positions count.
Tensor mask_by_position(const RecurrenceCall& call, const Tensor& mask) {
  if (!mask.defined()) return {};
  const Shape wanted{call.x.shape()[0], call.x.shape()[1]};
  if (!(mask.shape() == wanted) || mask.type() != DType::boolean)
    throw Error(ErrorKind::usage, 242, fmt::format("{}: the mask does not fit", call.name))
        .where(call.place)
        .got(mask.spec().text())
        .expected(fmt::format("bool{}", wanted.text()))
        .help("compare positions with lengths, or cast(mask, DType::boolean)");
  const Tensor moved = transpose(reshape(mask, wanted, "", call.place), {1, 0}, call.place);
  return reshape(moved, {wanted[1], wanted[0], 1}, "", call.place);
}

Tree tree_of(const RecurrenceState& state) {
  return state.c.defined() ? Tree{{"c", state.c}, {"h", state.h}} : Tree{{"h", state.h}};
}
RecurrenceState state_of(const Tree& tree) {
  return {tree["h"].tensor(), tree.contains("c") ? tree["c"].tensor() : Tensor()};
}

}  // namespace

RecurrenceResult run_recurrence(
    const RecurrenceCall& call, const RecurrenceState& first, bool has_c, const RecurrenceOptions& options,
    FunctionRef<RecurrenceState(const Tensor& products, const RecurrenceState& before)> next) {
  const Place place = call.place;
  const Tensor by_position = transpose(reshape(call.x, call.x.shape(), "", place), {1, 0, 2}, place);
  Tree xs{{"products", add(linear(by_position, call.weights, {.flatten = false}, place), call.biases[0], place)}};
  if (const Tensor mask = mask_by_position(call, options.mask); mask.defined()) xs["mask"] = mask;
  const RecurrenceState start{state_or_zeros(call, first.h), has_c ? state_or_zeros(call, first.c) : Tensor()};
  const auto step = [&](const Tree& before, const Tree& x) -> ScanStep {
    const RecurrenceState old = state_of(before), made = next(x["products"].tensor(), old);
    if (!x.contains("mask")) return {tree_of(made), made.h};
    const Tensor& counts = x["mask"];
    const Tensor kept = has_c ? where(counts, made.c, old.c, place) : Tensor();
    return {tree_of({where(counts, made.h, old.h, place), kept}),
            where(counts, made.h, constant_like(made.h, 0), place)};
  };
  const ScanResult made = scan(step, tree_of(start), xs, {.reverse = options.reverse}, place);
  const Tensor y = transpose(made.results, {1, 0, 2}, place);
  return {reshape(y, y.shape(), call.x.labels(), place), state_of(made.state)};
}

}  // namespace retrace
