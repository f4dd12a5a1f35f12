#include <algorithm>
#include <optional>

#include "retrace/base/fp_environment.h"
#include "retrace/ops/pointwise.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// One number of any type; binary64 holds them all.
struct Number {
  double value;
  DType type;
  alignas(8) char bytes[8] = {};

  Number(double value, DType type) : value(value), type(type) { store_number(value, type, bytes); }
};

double number_of(const void* bytes, DType type) {
  switch (type) {
    case DType::f32: return static_cast<double>(*static_cast<const float*>(bytes));
    case DType::f64: return *static_cast<const double*>(bytes);
    case DType::i32: return *static_cast<const int32_t*>(bytes);
    case DType::bf16: return static_cast<double>(to_f32(*static_cast<const BFloat16*>(bytes)));
    case DType::f16: return static_cast<double>(to_f32(*static_cast<const Float16*>(bytes)));
    case DType::i64: return static_cast<double>(*static_cast<const int64_t*>(bytes));
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
  const DType type = trace.spec(node.first_output).type;
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
  explicit Constants(const Trace& trace) : trace_(trace), known_(trace) {}

  // The number that the node makes of constants; none if it makes something else, or an error that its run will tell.
  std::optional<double> fold(const Node& node) {
    auto& known = known_[node.first_output];
    if (node.op->constant) known = node.attributes.number("value");
    const bool all =
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return at(id).has_value(); });
    if (node.inputs.empty() || node.output_count != 1 || !all) return {};
    if (node.op->view || node.op->repeats) {  // costs nothing
      known = at(node.inputs[0]);
      return {};
    }
    if (!node.op->rule && !node.op->elementwise) return {};
    std::vector<Number> arguments;
    for (ValueId id : node.inputs) arguments.emplace_back(*at(id), trace_.spec(id).type);
    try {
      return known = compute(trace_, node, arguments);
    } catch (const Error&) {
      return {};
    }
  }

 private:
  const std::optional<double>& at(ValueId id) const { return known_[id]; }

  const Trace& trace_;
  ValueMap<std::optional<double>> known_;
};

Trace fold_constants(Trace trace, const PlanOptions&) {
  const FloatingPointScope floating_point;
  Constants constants(trace);
  Rewriter rewrite(trace);
  const auto spec_of = [&](const Node& node) { return trace.spec(node.first_output); };
  for (const auto& node : trace.nodes) {
    if (const auto value = constants.fold(node))
      rewrite.replace(node.first_output, add_number(rewrite.to(), *value, spec_of(node), node.place));
    else
      rewrite.copy(node);
  }
  return rewrite.finish();
}

}  // namespace

Pass fold_constants_pass() {
  return {.name = "fold_constants",
          .purpose = "what is made of constants alone is computed while planning",
          .run = fold_constants,
          .cuda = true};
}

}  // namespace retrace
