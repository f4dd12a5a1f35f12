#include "retrace/plan/cuda/cuda_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "retrace/base/error.h"
#include "retrace/base/hash.h"
#include "retrace/plan/cuda/chain_text.h"
#include "retrace/plan/cuda/cuda_reduction.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

bool is_integer_like(DType type) { return type == DType::i32 || type == DType::boolean || type == DType::u8; }
bool is_made_by_floats(DType type) { return type == DType::f32 || type == DType::boolean || is_half(type); }
bool is_float_like(DType type) { return is_made_by_floats(type) || type == DType::u8; }
bool is_eight_bytes(DType type) { return size_of(type) == 8; }

bool can_generate(const Trace& trace, const Node& node) {
  const auto type = [&](ValueId id) { return trace.spec(id).type; };
  const DType made = type(node.first_output);
  if (is_conversion(node)) return !is_eight_bytes(made) && !is_eight_bytes(type(node.inputs[0]));
  if (!node.op->rule || node.op->cuda || node.output_count != 1) return false;
  const auto all = [&](bool (*is_like)(DType)) {
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return is_like(type(id)); });
  };
  if (is_made_by_floats(made) && all(is_float_like)) return true;
  return node.op->integer_by_rule && is_integer_like(made) && all(is_integer_like);
}

bool reports_errors(const Trace& body) {
  const bool any = reporting_node(body) != nullptr;
  ensure(!any || body.nodes.size() == 1, "a node that reports errors is in no chain with others");
  return any;
}

std::string struct_of(const Trace& body) {
  std::string text;
  const auto type = [&](ValueId id) { return memory_type(body.spec(id).type); };
  for (size_t i = 0; i < body.inputs.size(); ++i)
    text += fmt::format("  Global<const {}> in{};\n", type(body.inputs[i]), i);
  for (size_t i = 0; i < body.outputs.size(); ++i)
    text += fmt::format("  Global<{}> out{};\n", type(body.outputs[i]), i);
  if (reports_errors(body)) text += "  ErrorTarget errors;\n";
  return text + (takes_four(body) ? "  unsigned count, each;\n" : "  long long count;\n");
}

std::string node_statements(const Trace& body, const ChainText& text_of) {
  std::string text;
  for (const Node& node : body.nodes) {
    if (reports_errors(body))
      text +=
          fmt::format("  if ({}) report_error(a.errors, i, v{}.value);\n", rule_call(node, "fails"), node.inputs[0]);
    const ValueId made = node.first_output;
    text += fmt::format("  const {} v{} = {};\n", text_of.type(made), made, text_of.computed(node));
  }
  return text;
}

std::string statements_of(const Trace& body) {
  const ChainText text_of(body);
  const auto spec = [&](ValueId id) -> const TensorSpec& { return body.spec(id); };
  const Shape& whole = spec(body.outputs[0]).shape;
  std::string text;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    const ValueId id = body.inputs[i];
    const std::string element = fmt::format("a.in{}[{}]", i, index_of(spec(id).shape, whole));
    text += fmt::format("  const {} v{} = {};\n", text_of.type(id), id, text_of.loaded(id, element));
  }
  text += node_statements(body, text_of);
  for (size_t i = 0; i < body.outputs.size(); ++i)
    text += fmt::format("  a.out{}[i] = {};\n", i, text_of.stored(body.outputs[i]));
  return text;
}

// Whether the four elements from a multiple of four on are read at one index, and at the three behind it.
bool lies_in_fours(const std::string& index, int64_t count) {
  return index == "i" || (index == fmt::format("i % {}u", count) && count % 4 == 0);
}

// The same for the four elements from i on. All is loaded first.
std::string statements_of_four(const Trace& body) {
  const ChainText text_of(body);
  std::string loads, elements, made, stores;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    const ValueId id = body.inputs[i];
    const std::string index = index_of(body.spec(id).shape, body.spec(body.outputs[0]).shape);
    if (index == "0") {
      loads += fmt::format("  const float v{} = a.in{}[0];\n", id, i);
      continue;
    }
    loads += fmt::format("  const Float4 w{0} = load4(a.in{1}, {2});\n", id, i, index);
    elements += fmt::format("  const float x{0}[4] = {{w{0}.x, w{0}.y, w{0}.z, w{0}.w}};\n", id);
    made += fmt::format("  const float v{0} = x{0}[j];\n", id);
  }
  made += node_statements(body, text_of);
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    elements += fmt::format("  float y{}[4];\n", i);
    made += fmt::format("  y{}[j] = {};\n", i, text_of.stored(body.outputs[i]));
    stores += fmt::format("  store4(a.out{0}, i, {{y{0}[0], y{0}[1], y{0}[2], y{0}[3]}});\n", i);
  }
  return fmt::format("{}{}  RT_UNROLL\n  for (int j = 0; j < 4; ++j) {{\n{}  }}\n{}", loads, elements, made, stores);
}

}  // namespace

bool takes_four(const Trace& body) {
  const TensorSpec& made = body.spec(body.outputs[0]);
  const auto is_float = [&](ValueId id) { return body.spec(id).type == DType::f32; };
  const int64_t count = made.shape.count();
  if (count < tuning::kLeastOfFour || count >= int64_t{1} << 31 || count % 4 != 0) return false;
  return std::all_of(body.outputs.begin(), body.outputs.end(), is_float) &&
         std::all_of(body.inputs.begin(), body.inputs.end(), [&](ValueId id) {
           const Shape& shape = body.spec(id).shape;
           const std::string index = index_of(shape, made.shape);
           return is_float(id) && (index == "0" || lies_in_fours(index, shape.count()));
         });
}

bool is_chain(const Trace& trace, const Node& node) {
  return node.op == &fused_op() ? !is_reducing(node) : can_generate(trace, node);
}

bool joins_chains(const Trace& trace, const Node& node) {
  return is_chain(trace, node) && !reports_errors(trace, node);
}

bool is_float_chain(const Trace& trace, const Node& node) {
  return joins_chains(trace, node) && !ChainText(chain_body(trace, node)).any_integer();
}

bool reports_errors(const Trace& trace, const Node& node) {
  const DType made = trace.spec(node.first_output).type;
  return node.op->value_error && (!node.op->rule || made == DType::i32 || made == DType::u8);
}

const Node* reporting_node(const Trace& body) {
  for (const Node& node : body.nodes)
    if (reports_errors(body, node)) return &node;
  return nullptr;
}

Trace chain_body(const Trace& trace, const Node& node) {
  if (node.op == &fused_op()) return node.body->trace;
  Trace body;
  Node alone = node;
  for (ValueId& id : alone.inputs) id = body.add_input(trace.spec(id));
  const TensorSpec& made = trace.spec(node.first_output);
  body.outputs = {body.add_node(std::move(alone), std::span(&made, 1))};
  return body;
}

CudaChain generate_chain(const Trace& body) {
  ensure(body.spec(body.outputs[0]).shape.count() < int64_t{1} << 32, "a chain has fewer than 2^32 elements");
  CudaChain chain;
  const std::string fields = struct_of(body);
  std::string statements = "  if (i >= a.count) return;\n" + statements_of(body);
  if (takes_four(body))
    statements = fmt::format("  if (a.each == 1) {{\n{}  return;\n  }}\n  i *= 4;\n  if (i >= a.count) return;\n{}",
                             statements, statements_of_four(body));
  chain.name = fmt::format("chain_{:016x}", hash_combine(hash_bytes(fields), hash_bytes(statements)));
  chain.source = fmt::format(
      "struct {0}_arguments {{\n{1}}};\n\nRT_DEVICE void {0}(const {0}_arguments& a, unsigned i) {{\n{2}}}\n\n",
      chain.name, fields, statements);
  for (const Node& node : body.nodes) chain.headers.emplace(header_of(node));
  return chain;
}

// A block finds its chain by halving: `chain` is the last one whose first block is not behind it.
CudaChainKernel generate_kernel(std::span<const ChainRun> runs) {
  std::string fields, calls, all;
  size_t chains = 0;
  for (const ChainRun& run : runs) {
    fields += fmt::format("  {}_arguments from{}[{}];\n", run.name, chains, run.chains);
    calls += fmt::format("  if (chain < {0}u) return {1}(a.from{2}[chain - {2}u], i);\n", chains + run.chains, run.name,
                         chains);
    all += fmt::format("{} {}\n", run.name, run.chains);
    chains += run.chains;
  }
  CudaChainKernel kernel;
  kernel.name = fmt::format("chains_{:016x}", hash_bytes(all));
  kernel.source = fmt::format(
      "struct {0}_arguments {{\n{1}  unsigned first_blocks[{2}];\n}};\n\nRT_KERNEL({0}, {0}_arguments, a) {{\n"
      "  unsigned chain = 0;\n  for (unsigned step = {3}u; step > 0; step /= 2)\n"
      "    if (chain + step < {2}u && a.first_blocks[chain + step] <= block().x) chain += step;\n"
      "  const unsigned i = (block().x - a.first_blocks[chain]) * block_threads().x + thread().x;\n{4}}}\n\n",
      kernel.name, fields, chains, std::bit_ceil(chains) / 2, calls);
  return kernel;
}

}  // namespace retrace
