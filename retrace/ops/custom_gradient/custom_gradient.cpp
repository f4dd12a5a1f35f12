#include "retrace/ops/custom_gradient/custom_gradient.h"

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/op.h"
#include "retrace/ops/recorded_body.h"

namespace retrace {
namespace {

// The inputs of the op: x; what forward uses; what backward uses. Those of the traces are
//   forward:  x..., used...        backward: x..., y..., dy..., used...  ->  dx...
struct Functions {
  explicit Functions(const Attributes& attributes)
      : forward(attributes.trace("forward")),
        backward(attributes.trace("backward")),
        arguments(static_cast<size_t>(attributes.integer("arguments"))) {}

  const TensorSpec& forward_input(size_t i) const { return forward->spec(forward->inputs[i]); }
  const TensorSpec& output(size_t i) const { return forward->spec(forward->outputs[i]); }
  // The number of inputs of backward that come before what it uses.
  size_t given() const { return arguments + 2 * forward->outputs.size(); }

  const std::shared_ptr<const Trace>&forward, &backward;
  size_t arguments;
};

bool alike_custom_gradient(const TensorSpec& a, const TensorSpec& b) { return a.type == b.type && a.shape == b.shape; }

// What input i of backward stands for.
const TensorSpec& expected_of_backward(const Functions& f, const InferCall& call, size_t i) {
  if (i < f.arguments) return f.forward_input(i);
  if (i < f.given()) return f.output((i - f.arguments) % f.forward->outputs.size());
  return call.inputs[f.forward->inputs.size() + i - f.given()];
}

// Attributes may come from a text.
std::vector<TensorSpec> infer_custom_gradient(const InferCall& call) {
  const auto refuse = [&](const std::string& what) {
    op_error(call, 233, "the recorded functions do not fit: " + what, fmt::format("{} inputs", call.inputs.size()),
             "a forward function of x, and a backward one of x, y and dy");
  };
  if (call.attributes.integer("arguments") < 0) refuse("the number of arguments");
  const Functions f(call.attributes);
  if (f.arguments > f.forward->inputs.size() || f.given() > f.backward->inputs.size() ||
      f.forward->inputs.size() + f.backward->inputs.size() - f.given() != call.inputs.size() ||
      f.backward->outputs.size() != f.arguments)
    refuse("their numbers of inputs");
  for (size_t i = 0; i < f.forward->inputs.size(); ++i)
    if (!alike_custom_gradient(f.forward_input(i), call.inputs[i])) refuse(fmt::format("input {} of forward", i));
  for (size_t i = 0; i < f.backward->inputs.size(); ++i)
    if (!alike_custom_gradient(f.backward->spec(f.backward->inputs[i]), expected_of_backward(f, call, i)))
      refuse(fmt::format("input {} of backward", i));
  for (size_t i = 0; i < f.arguments; ++i)
    if (is_float(f.forward_input(i).type) &&
        !alike_custom_gradient(f.backward->spec(f.backward->outputs[i]), f.forward_input(i)))
      refuse(fmt::format("output {} of backward", i));
  std::vector<TensorSpec> outputs;
  for (size_t i = 0; i < f.forward->outputs.size(); ++i) outputs.push_back(f.output(i));
  return outputs;
}

std::vector<Tensor> lower_custom_gradient(const LowerCall& call) {
  const Functions f(call.attributes);
  return current_recording()->splice(*f.forward, call.inputs.first(f.forward->inputs.size()), {}, call.place);
}

std::vector<Tensor> gradient_custom_gradient(const GradientCall& call) {
  const Functions f(call.attributes);
  std::vector<Tensor> inputs(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(f.arguments));
  inputs.insert(inputs.end(), call.outputs.begin(), call.outputs.end());
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const Tensor &y = call.outputs[i], &dy = call.cotangents[i];
    inputs.push_back(dy.defined() ? dy : broadcast(constant_like(y, 0), y.shape(), y.labels(), call.place));
  }
  const auto used = call.inputs.subspan(f.forward->inputs.size());
  inputs.insert(inputs.end(), used.begin(), used.end());
  auto found = current_recording()->splice(*f.backward, inputs, {}, call.place);
  found.resize(call.inputs.size());
  return found;
}

std::vector<TensorSpec> specs_of(std::span<const Tensor> tensors) {
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : tensors) specs.push_back(tensor.spec());
  return specs;
}

void check_gradients(const Tree& x, const Tree& found, Place place) {
  check_same_structure(x, found, "what backward returns in custom_gradient", place);
  const auto of_x = leaves(x), of_found = leaves(found);
  for (size_t i = 0; i < of_x.size(); ++i)
    if (const Tensor& a = of_x[i].second;
        is_float(a.type()) && !alike_custom_gradient(a.spec(), of_found[i].second.spec()))
      throw Error(ErrorKind::usage, 234,
                  fmt::format("custom_gradient: backward's gradient{}{} does not fit x",
                              of_x[i].first.empty() ? "" : " for ", of_x[i].first))
          .where(place)
          .got(of_found[i].second.spec().text())
          .expected(a.spec().text());
}

Tree record_custom(FunctionRef<Tree(const Tree&)> forward,
                   FunctionRef<Tree(const Tree&, const Tree&, const Tree&)> backward, const Tree& x, Place place) {
  std::vector<Tensor> inputs = leaf_tensors(x);
  const size_t arguments = inputs.size();
  std::vector<TensorSpec> specs = specs_of(inputs), made;
  Tree structure;
  const auto call_forward = [&](std::span<const Tensor> in) {
    structure = forward(with_leaves(x, in));
    const auto outputs = leaf_tensors(structure);
    made = specs_of(outputs);
    return outputs;
  };
  const RecordedBody ahead = record_body("custom_gradient", specs, call_forward, place);
  specs.insert(specs.end(), made.begin(), made.end());
  specs.insert(specs.end(), made.begin(), made.end());
  const auto call_backward = [&](std::span<const Tensor> in) {
    const Tree found =
        backward(with_leaves(x, in.first(arguments)), with_leaves(structure, in.subspan(arguments, made.size())),
                 with_leaves(structure, in.last(made.size())));
    check_gradients(x, found, place);
    return leaf_tensors(found);
  };
  const RecordedBody back = record_body("custom_gradient", specs, call_backward, place);
  inputs.insert(inputs.end(), ahead.used.begin(), ahead.used.end());
  inputs.insert(inputs.end(), back.used.begin(), back.used.end());
  static const Op& op = find_op("custom_gradient");
  const auto outputs = record(op,
                              {{"forward", std::make_shared<const Trace>(ahead.trace)},
                               {"backward", std::make_shared<const Trace>(back.trace)},
                               {"arguments", static_cast<int64_t>(arguments)}},
                              inputs, place);
  return with_leaves(structure, outputs);
}

}  // namespace

Tree custom_gradient(FunctionRef<Tree(const Tree& x)> forward,
                     FunctionRef<Tree(const Tree& x, const Tree& y, const Tree& dy)> backward, const Tree& x,
                     Place place) {
  return with_place(place, [&] { return record_custom(forward, backward, x, place); });
}

void define_custom_gradient(OpTable& table) {
  table.add({.name = "custom_gradient",
             .inputs = -1,
             .attributes = {"forward", "backward", "arguments"},
             .infer = infer_custom_gradient,
             .gradient = gradient_custom_gradient,
             .lower = lower_custom_gradient,
             .any_type = true});
}

}  // namespace retrace
