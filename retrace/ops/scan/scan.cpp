#include "retrace/ops/scan/scan.h"

#include <algorithm>

#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/loop.h"
#include "retrace/ops/recorded_body.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace {
namespace {

// -- the op -----------------------------------------------------------------------------------------------------

[[noreturn]] void does_not_fit(const InferCall& call, const std::string& what, const TensorSpec& got,
                               const TensorSpec& expected) {
  op_error(call, 239, what, got.text(), expected.text());
}

TensorSpec stacked(const TensorSpec& element, int64_t length) {
  TensorSpec all{element.type, Shape{length}, {}, {}, element.device};
  for (const int64_t size : element.shape) all.shape.push_back(size);
  return all;
}

bool alike_scan(const TensorSpec& a, const TensorSpec& b) { return a.type == b.type && a.shape == b.shape; }

// Attributes may come from a text: nothing is taken for granted.
void check_counts(const InferCall& call) {
  const Trace& body = *call.attributes.trace("body");
  const int64_t carries = call.attributes.integer("carries"), sequences = call.attributes.integer("sequences");
  const auto inputs = static_cast<int64_t>(body.inputs.size()), outputs = static_cast<int64_t>(body.outputs.size());
  if (carries < 0 || sequences < 0 || carries + sequences > inputs || carries > outputs ||
      inputs != static_cast<int64_t>(call.inputs.size()) || call.attributes.integer("length") < 0)
    op_error(call, 239, "the numbers of a loop do not fit its body",
             fmt::format("{} carries, {} sequences, {} inputs", carries, sequences, call.inputs.size()),
             fmt::format("a body of {} inputs and {} outputs", inputs, outputs));
}

std::vector<TensorSpec> infer_scan(const InferCall& call) {
  check_counts(call);
  const Loop loop(call.attributes);
  const Trace& body = *loop.body;
  std::vector<TensorSpec> outputs, histories;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    const TensorSpec& own = body.spec(body.inputs[i]);
    const bool cut = i >= loop.carries && i < loop.carries + loop.sequences;
    if (cut && own.shape.rank() == kMaxRank) does_not_fit(call, "a sequence has too many axes", call.inputs[i], own);
    const TensorSpec expected = cut ? stacked(own, loop.length) : own;
    if (!alike_scan(call.inputs[i], expected))
      does_not_fit(call, "an input does not fit the body", call.inputs[i], expected);
  }
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    const TensorSpec& made = body.spec(body.outputs[i]);
    if (made.shape.rank() == kMaxRank) does_not_fit(call, "a result has too many axes", made, made);
    if (i >= loop.carries) {
      outputs.push_back(stacked(made, loop.length));
      continue;
    }
    const TensorSpec& before = body.spec(body.inputs[i]);
    if (!alike_scan(made, before)) does_not_fit(call, "a carry changes its form", made, before);
    outputs.push_back(before);
    if (loop.history) histories.push_back(stacked(before, loop.length));
  }
  outputs.insert(outputs.end(), histories.begin(), histories.end());
  return outputs;
}

// Tensors of each step, in the order of the steps, as one.
Tensor stack_steps(const Loop& loop, std::vector<Tensor> steps, const TensorSpec& element, Place place) {
  if (loop.reverse) std::reverse(steps.begin(), steps.end());
  for (Tensor& step : steps) step = reshape(step, element.shape, "", place);
  return stack(steps, 0, place);
}

// The steps one by one.
std::vector<Tensor> lower_scan(const LowerCall& call) {
  const Loop loop(call.attributes);
  const Trace& body = *loop.body;
  std::vector<Tensor> inputs(call.inputs.begin(), call.inputs.end());
  std::vector<std::vector<Tensor>> made(body.outputs.size()), before(loop.carries);
  for (int64_t i = 0; i < loop.length; ++i) {
    for (size_t k = 0; k < loop.carries; ++k) before[k].push_back(inputs[k]);
    for (size_t k = loop.carries; k < loop.carries + loop.sequences; ++k) {
      const TensorSpec& own = body.spec(body.inputs[k]);
      inputs[k] =
          reshape(select(call.inputs[k], 0, loop.place_of(i), call.place), own.shape, own.labels.text(), call.place);
    }
    const auto outputs = current_recording()->splice(body, inputs, {}, call.place);
    for (size_t k = 0; k < outputs.size(); ++k) made[k].push_back(outputs[k]);
    std::copy_n(outputs.begin(), loop.carries, inputs.begin());
  }
  std::vector<Tensor> outputs(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(loop.carries));
  for (size_t k = loop.carries; k < made.size(); ++k)
    outputs.push_back(stack_steps(loop, made[k], body.spec(body.outputs[k]), call.place));
  for (size_t k = 0; loop.history && k < loop.carries; ++k)
    outputs.push_back(stack_steps(loop, before[k], body.spec(body.inputs[k]), call.place));
  return outputs;
}

// -- the function -----------------------------------------------------------------------------------------------

int time_axis(const Tensor& x, Place place) {
  if (x.labels().empty() && x.rank() > 0) return 0;
  const int axis = x.spec().labels.find('T');
  if (axis < 0)
    throw Error(ErrorKind::usage, 261, "scan: xs has no axis to step along")
        .where(place)
        .got(x.spec().text())
        .expected("a label T, or no labels and one axis or more")
        .help("pass what is the same in every step by using it in the body");
  return axis;
}

// Without labels, the axis of the steps in front.
Tensor steps_first(const Tensor& x, int axis, Place place) {
  Shape order{axis};
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) order.push_back(i);
  const Tensor moved = axis == 0 ? x : transpose(x, order, place);
  return moved.labels().empty() ? moved : reshape(moved, moved.shape(), "", place);
}

TensorSpec element_of(const Tensor& x, int axis) {
  TensorSpec element{x.type(), {}, {}, {}, x.spec().device};
  std::string labels;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == axis) continue;
    element.shape.push_back(x.shape()[i]);
    if (!x.labels().empty()) labels += x.labels()[i];
  }
  element.labels = Labels(labels);
  return element;
}

// Results of all steps, the first axis: T goes where it belongs if the results of one step have labels.
Tensor with_steps(const Tensor& all, const Labels& labels, Place place) {
  if (labels.empty() || labels.find('T') >= 0) return all;
  const int at = labels.find('B') == 0 ? 1 : 0;
  Shape order;
  std::string names;
  for (int i = 1; i <= labels.size(); ++i) {
    if (i - 1 == at) order.push_back(0), names += 'T';
    order.push_back(i), names += labels[i - 1];
  }
  if (at == labels.size()) order.push_back(0), names += 'T';
  const Tensor moved = at == 0 ? all : transpose(all, order, place);
  return reshape(moved, moved.shape(), names, place);
}

[[noreturn]] void refuse_state(const std::string& message, const TensorSpec& got, const TensorSpec& expected,
                               Place place) {
  throw Error(ErrorKind::usage, 262, message)
      .where(place)
      .got(got.text())
      .expected(expected.text())
      .help("the state keeps structure, types and shapes from step to step: cast or broadcast the initial one");
}

void check_next_state(const Tree& before, const Tree& next, Place place) {
  check_same_structure(before, next, "the next state of a scan", place);
  const auto old_leaves = leaves(before);
  const auto new_leaves = leaves(next);
  for (size_t i = 0; i < old_leaves.size(); ++i)
    if (!alike_scan(old_leaves[i].second.spec(), new_leaves[i].second.spec()))
      refuse_state(old_leaves[i].first.empty() ? "scan: the next state differs from the state"
                                               : fmt::format("scan: the next state differs in {}", old_leaves[i].first),
                   new_leaves[i].second.spec(), old_leaves[i].second.spec(), place);
}

Tree with_leaves_or_empty(const Tree& structure, std::span<const Tensor> tensors) {
  return tensors.empty() ? Tree() : with_leaves(structure, tensors);
}

// The body, recorded, and the structures of what it returns.
struct StepBody {
  RecordedBody recorded;
  Tree state, result;
  std::vector<Labels> labels;  // of the results
};

StepBody record_step(FunctionRef<ScanStep(const Tree&, const Tree&)> body, const Tree& state, const Tree& xs,
                     const std::vector<TensorSpec>& specs, size_t carries, Place place) {
  StepBody made;
  const auto call = [&](std::span<const Tensor> inputs) {
    const Tree before = with_leaves_or_empty(state, inputs.first(carries));
    const ScanStep step = body(before, with_leaves_or_empty(xs, inputs.subspan(carries)));
    check_next_state(before, step.state, place);
    made.state = step.state, made.result = step.result;
    std::vector<Tensor> outputs = leaf_tensors(step.state);
    for (const Tensor& result : leaf_tensors(step.result)) {
      made.labels.push_back(result.spec().labels);
      outputs.push_back(result);
    }
    return outputs;
  };
  made.recorded = record_body("scan", specs, call, place);
  return made;
}

int64_t checked_length(const std::vector<Tensor>& sequences, const ScanOptions& options, Place place) {
  int64_t length = options.length;
  for (const Tensor& sequence : sequences) {
    if (length >= 0 && sequence.shape()[0] != length)
      throw Error(ErrorKind::usage, 261, "scan: xs has another number of steps")
          .where(place)
          .got(fmt::format("{}", sequence.shape()[0]))
          .expected(fmt::format("{}, as {}", length, options.length >= 0 ? "options.length" : "the first leaf of xs"));
    length = sequence.shape()[0];
  }
  if (length < 0)
    throw Error(ErrorKind::usage, 261, "scan: nothing says how many steps there are")
        .where(place)
        .help("set options.length, or pass xs");
  return length;
}

ScanResult record_scan(FunctionRef<ScanStep(const Tree&, const Tree&)> body, const Tree& state, const Tree& xs,
                       const ScanOptions& options, Place place) {
  std::vector<Tensor> inputs = leaf_tensors(state), sequences;
  const size_t carries = inputs.size();
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : inputs) specs.push_back(tensor.spec());
  for (const Tensor& x : leaf_tensors(xs)) {
    const int axis = time_axis(x, place);
    specs.push_back(element_of(x, axis));
    sequences.push_back(steps_first(x, axis, place));
  }
  const int64_t length = checked_length(sequences, options, place);
  // A state that is made of numbers alone begins on any device.
  DeviceId device = 0;
  for (const auto* all : {&inputs, &sequences})
    for (const Tensor& tensor : *all) device = std::max(device, tensor.spec().device);
  for (TensorSpec& spec : specs) spec.device = device;
  const StepBody made = record_step(body, state, xs, specs, carries, place);
  inputs.insert(inputs.end(), sequences.begin(), sequences.end());
  inputs.insert(inputs.end(), made.recorded.used.begin(), made.recorded.used.end());
  Loop loop(std::make_shared<const Trace>(made.recorded.trace), length, carries, sequences.size(), options.reverse,
            true);
  const auto outputs = record_loop(loop, inputs, place);
  std::vector<Tensor> results;
  for (size_t i = 0; i < made.labels.size(); ++i)
    results.push_back(with_steps(outputs[carries + i], made.labels[i], place));
  return {with_leaves_or_empty(made.state, std::span(outputs).first(carries)),
          with_leaves_or_empty(made.result, results)};
}

}  // namespace

ScanResult scan(FunctionRef<ScanStep(const Tree& state, const Tree& x)> body, const Tree& state, const Tree& xs,
                const ScanOptions& options, Place place) {
  return with_place(place, [&] { return record_scan(body, state, xs, options, place); });
}

void define_scan(OpTable& table) {
  table.add({.name = "scan",
             .inputs = -1,
             .attributes = {"body", "length", "carries", "sequences", "reverse", "history"},
             .infer = infer_scan,
             .gradient = loop_gradient,
             .lower = lower_scan,
             .loop = true,
             .contraction = true,
             .any_type = true});
}

}  // namespace retrace
