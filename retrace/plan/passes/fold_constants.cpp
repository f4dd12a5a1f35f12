#include <algorithm>
#include <optional>

#include "retrace/base/fp_environment.h"
#include "retrace/ops/pointwise.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/programs/tile_program.h"

namespace retrace {
namespace {

// One number of any type; binary64 holds them all.
struct Number {
  double value;
  DType type;
  alignas(8) char bytes[8] = {};

  Number(double value, DType type) : value(value), type(type) {
    const Attributes attributes{{"value", value}, {"type", type}};
    const TensorSpec spec{type, {}, {}, {}};
    const KernelOutput output{bytes, &spec};
    find_op("constant").kernel({attributes, {}, std::span(&output, 1)});
  }
};

double number_of(const void* bytes, DType type) {
  switch (type) {
    case DType::f32: return static_cast<double>(*static_cast<const float*>(bytes));
    case DType::f64: return *static_cast<const double*>(bytes);
    case DType::i32: return *static_cast<const int32_t*>(bytes);
    case DType::u8:
    case DType::boolean: break;
  }
  return *static_cast<const uint8_t*>(bytes);
}

// An element of the node's result, by the kernel that a plan would run.
double compute(const Trace& trace, const Node& node, const std::vector<Number>& arguments) {
  if (can_tile(trace, node)) {
    float in[3] = {}, out = 0;
    for (size_t i = 0; i < arguments.size(); ++i) in[i] = static_cast<float>(arguments[i].value);
    const float* const pointers[3] = {in, in + 1, in + 2};
    node.op->rule->tile.get()(pointers, &out, 1);
    return static_cast<double>(out);
  }
  std::vector<TensorSpec> specs;
  for (const auto& each : arguments) specs.push_back({each.type, {}, {}, {}});
  std::vector<KernelInput> inputs;
  for (size_t i = 0; i < arguments.size(); ++i) inputs.push_back({arguments[i].bytes, &specs[i]});
  const DType type = trace.values[static_cast<size_t>(node.first_output)].type;
  Number result(0, type);
  const TensorSpec made{type, {}, {}, {}};
  const KernelOutput output{result.bytes, &made};
  const KernelCall call{node.attributes, inputs, std::span(&output, 1)};
  node.op->kernel ? node.op->kernel(call) : run_pointwise(*node.op, call);
  return number_of(result.bytes, type);
}

// Which values are one known number in all elements.
class Constants {
 public:
  explicit Constants(const Trace& trace) : trace_(trace), known_(trace.values.size()) {}

  // The number that the node makes of constants; none if it makes something else, or an error that its run will tell.
  std::optional<double> fold(const Node& node) {
    auto& known = known_[static_cast<size_t>(node.first_output)];
    if (node.op->name == "constant") known = node.attributes.number("value");
    const bool all =
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return at(id).has_value(); });
    if (node.inputs.empty() || node.output_count != 1 || !all) return {};
    if (node.op->view || node.op->name == "broadcast") {  // costs nothing
      known = at(node.inputs[0]);
      return {};
    }
    if (!node.op->rule && node.op->name != "cast") return {};
    std::vector<Number> arguments;
    for (ValueId id : node.inputs) arguments.emplace_back(*at(id), trace_.values[static_cast<size_t>(id)].type);
    try {
      return known = compute(trace_, node, arguments);
    } catch (const Error&) {
      return {};
    }
  }

 private:
  const std::optional<double>& at(ValueId id) const { return known_[static_cast<size_t>(id)]; }

  const Trace& trace_;
  std::vector<std::optional<double>> known_;
};

// The number as a constant, stretched to the node's shape.
ValueId add_constant(Rewriter& rewrite, const Node& node, double value) {
  const TensorSpec& spec = rewrite.from().values[static_cast<size_t>(node.first_output)];
  Node number;
  number.op = &find_op("constant");
  number.attributes = {{"value", value}, {"type", spec.type}};
  number.place = node.place;
  const TensorSpec single{spec.type, {}, {}, {}};
  const ValueId made = rewrite.to().add_node(std::move(number), std::span(&single, 1));
  if (spec.shape.rank() == 0) return made;
  Node stretch;
  stretch.op = &find_op(spec.count() == 1 ? "reshape" : "broadcast");
  stretch.attributes = {{"shape", spec.shape}, {"labels", std::string(spec.labels.text())}};
  stretch.inputs = {made};
  stretch.place = node.place;
  return rewrite.to().add_node(std::move(stretch), std::span(&spec, 1));
}

}  // namespace

Trace fold_constants(Trace trace) {
  const FloatingPointScope floating_point;
  Constants constants(trace);
  Rewriter rewrite(trace);
  for (const auto& node : trace.nodes) {
    if (const auto value = constants.fold(node))
      rewrite.replace(node.first_output, add_constant(rewrite, node, *value));
    else
      rewrite.copy(node);
  }
  return rewrite.finish();
}

}  // namespace retrace
