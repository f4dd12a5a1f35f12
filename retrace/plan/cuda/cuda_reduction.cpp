#include "retrace/plan/cuda/cuda_reduction.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/hash.h"
#include "retrace/ops/reduce/reduce_launch.h"
#include "retrace/plan/cuda/chain_text.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

bool is_reduction(const Node& node) { return node.op->column_kernels != nullptr; }

ReduceShape shape_of(const Trace& trace, const Node& reduction) {
  return ReduceShape(trace.spec(reduction.inputs[0]).shape, reduction.attributes.list("axes"));
}

// The three parts of a body.
struct Parts {
  explicit Parts(const Trace& body) {
    const auto& nodes = body.nodes;
    const auto first = std::find_if(nodes.begin(), nodes.end(), is_reduction);
    const auto behind = std::find_if_not(first, nodes.end(), is_reduction);
    chain = {nodes.begin(), first}, reductions = {first, behind}, results = {behind, nodes.end()};
  }
  std::span<const Node> chain, reductions, results;
};

bool is_sum(const Node& reduction) { return reduction.op->sum; }

int64_t value_bytes(const Parts& parts) {
  int64_t bytes = 0;
  for (const Node& node : parts.reductions) bytes += is_sum(node) ? 4 : 8;
  return bytes;
}

// Whether an op makes each element from wherever it likes.
bool makes_elements(const Node& node) { return node.op->cuda_element.text != nullptr; }

// Whether a value is read element by element.
bool reads(std::span<const Node> nodes, ValueId id) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return !makes_elements(node) && std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end();
  });
}

bool makes(std::span<const Node> nodes, ValueId id) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return node.first_output <= id && id < node.first_output + node.output_count;
  });
}

// An element of a node that makes it of arrays in memory.
std::string element_of(const Trace& body, const Node& node) {
  std::vector<TensorSpec> specs;
  std::vector<std::string> arrays;
  for (ValueId id : node.inputs) {
    const auto at = std::find(body.inputs.begin(), body.inputs.end(), id) - body.inputs.begin();
    ensure(static_cast<size_t>(at) < body.inputs.size(), "elements are made of arrays in memory");
    arrays.push_back(fmt::format("a.in{}", at)), specs.push_back(body.spec(id));
  }
  return node.op->cuda_element.text({*node.op, node.attributes, specs, node.place}, arrays);
}

// Writes one body's kernel.
class Writer {
 public:
  explicit Writer(const Trace& body)
      : body_(body), text_of_(body), parts_(body), by_row_(!shape_of(body, parts_.reductions[0]).by_column) {}

  // The text behind "NAME_": of values, arguments and policy, which name each other by `name`.
  std::string text(const std::string& name) const {
    return fmt::format(
        "struct {0}_value {{\n{1}}};\n\nstruct {0}_arguments : ReduceArguments {{\n{2}}};\n\nstruct {0}_policy {{\n"
        "  using Value = {0}_value;\n  static constexpr bool by_row = {3};\n"
        "  static RT_DEVICE Value empty() {{ return {{{4}}}; }}\n"
        "  static RT_DEVICE Value merge(Value a, Value b, long long count_a, long long count_b) {{\n"
        "    return {{{5}}};\n  }}\n  static RT_DEVICE Value fold(Value value) {{ return {{{6}}}; }}\n"
        "  static RT_DEVICE Value item(const {0}_arguments& a, long long o, long long lane, long long p, long long "
        "count) {{\n{7}  }}\n"
        "  static RT_DEVICE void store(const {0}_arguments& a, long long o, long long c, Value value) {{\n{8}  }}\n"
        "}};\n\nRT_KERNEL_BOUNDS({0}, 256, {0}_arguments, a) {{ reduce_pass<{0}_policy>(a); }}\n\n",
        name, members(), arguments(), by_row_, empty(), merge(), fold(), item(), store());
  }

 private:
  const TensorSpec& spec(ValueId id) const { return body_.spec(id); }

  std::string statement(const Node& node) const {
    const ValueId made = node.first_output;
    return fmt::format("const {} v{} = {};\n", text_of_.type(made), made, text_of_.computed(node));
  }

  // f(k, reduction) for each, with what stands between them.
  template <class F>
  std::string each(const char* between, F f) const {
    std::string text;
    for (size_t k = 0; k < parts_.reductions.size(); ++k) text += (k ? between : "") + f(k, parts_.reductions[k]);
    return text;
  }
  std::string members() const {
    return each("", [](size_t k, const Node& node) {
      return fmt::format("  {} r{};\n", is_sum(node) ? "float" : "MomentsPair", k);
    });
  }
  std::string arguments() const {
    std::string text;
    for (size_t i = 0; i < body_.inputs.size(); ++i)
      text += fmt::format("  Global<const {}> in{};\n", memory_type(spec(body_.inputs[i]).type), i);
    for (size_t i = 0; i < body_.outputs.size(); ++i)
      text += fmt::format("  Global<{}> out{};\n", memory_type(spec(body_.outputs[i]).type), i);
    return text;
  }
  std::string empty() const {
    return each(", ", [](size_t, const Node& node) -> std::string { return is_sum(node) ? "0.0f" : "no_moments()"; });
  }
  std::string merge() const {
    return each(", ", [](size_t k, const Node& node) {
      return is_sum(node) ? fmt::format("a.r{0} + b.r{0}", k)
                          : fmt::format("merge_moments(a.r{0}, b.r{0}, count_a, count_b)", k);
    });
  }
  std::string fold() const {
    return each(", ", [&](size_t k, const Node& node) {
      return by_row_ && is_sum(node) ? fmt::format("fold_lanes(value.r{})", k) : fmt::format("value.r{}", k);
    });
  }

  // Of the elements of a thread, four are loaded before one is computed, so that the loads do not wait for each other.
  std::string item() const {
    const Shape& whole = spec(parts_.reductions[0].inputs[0]).shape;
    std::string values, arrays, loads, computed;
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      const ValueId id = body_.inputs[i];
      if (!reads(parts_.chain, id) && !reads(parts_.reductions, id)) continue;
      arrays += fmt::format("      {} x{}[4];\n", text_of_.type(id), id);
      loads += fmt::format("        x{}[j] = {};\n", id,
                           text_of_.loaded(id, fmt::format("a.in{}[{}]", i, index_of(spec(id).shape, whole))));
      computed += fmt::format("          const {0} v{1} = x{1}[j];\n", text_of_.type(id), id);
    }
    for (const Node& node : parts_.chain) {
      if (makes_elements(node)) {
        arrays += fmt::format("      float x{}[4];\n", node.first_output);
        loads += fmt::format("        x{}[j] = {};\n", node.first_output, element_of(body_, node));
        computed += fmt::format("          const float v{0} = x{0}[j];\n", node.first_output);
      } else {
        computed += "          " + statement(node);
      }
    }
    for (size_t i = 0; i < body_.outputs.size(); ++i)
      if (const ValueId id = body_.outputs[i]; makes(parts_.chain, id))
        computed += fmt::format("          a.out{}[i] = {};\n", i, text_of_.stored(id));
    std::string elements, added;
    for (size_t k = 0; k < parts_.reductions.size(); ++k) {
      const Node& node = parts_.reductions[k];
      values += fmt::format("    float s{}{};\n", k, is_sum(node) ? " = 0.0f" : "[16]");
      elements += fmt::format("        float e{} = 0.0f;\n", k);
      computed += fmt::format("          e{} = v{};\n", k, node.inputs[0]);
      added += is_sum(node) ? fmt::format("        s{0} = s{0} + e{0};\n", k)
                            : fmt::format("        s{0}[from + j] = e{0};\n", k);
    }
    const auto made = each(", ", [&](size_t k, const Node& node) {
      return is_sum(node) ? fmt::format("s{}", k)
                          : fmt::format("moments_of_item<by_row>(s{}, lane_is.present, count)", k);
    });
    return fmt::format(
        "    const LaneElements lane_is = elements_of_lane<by_row>(a, o, lane, p, count);\n{0}    RT_UNROLL\n"
        "    for (int from = 0; from < 16; from += 4) {{\n{1}      RT_UNROLL\n      for (int j = 0; j < 4; ++j) {{\n"
        "        if (from + j >= lane_is.present) continue;\n"
        "        [[maybe_unused]] const unsigned i = lane_is.first + static_cast<unsigned>(from + j) * "
        "lane_is.step;\n{2}      }}\n"
        "      RT_UNROLL\n      for (int j = 0; j < 4; ++j) {{\n{3}        if (from + j < lane_is.present) {{\n"
        "          [[maybe_unused]] const unsigned i = lane_is.first + static_cast<unsigned>(from + j) * "
        "lane_is.step;\n{4}        }}\n"
        "{5}      }}\n    }}\n    return {{{6}}};\n",
        values, arrays, loads, elements, computed, added, made);
  }

  std::string store() const {
    const Shape& whole = spec(parts_.reductions[0].first_output).shape;
    std::string text = "    const unsigned i = static_cast<unsigned>(o * a.channels + c);\n";
    for (size_t k = 0; k < parts_.reductions.size(); ++k) {
      const Node& node = parts_.reductions[k];
      for (int output = 0; output < node.output_count; ++output)
        text += fmt::format("    const float v{} = value.r{}{};\n", node.first_output + output, k,
                            is_sum(node)  ? ""
                            : output == 0 ? ".mean"
                                          : ".m2");
    }
    for (size_t i = 0; i < body_.inputs.size(); ++i)
      if (const ValueId id = body_.inputs[i]; reads(parts_.results, id))
        text += fmt::format("    const {} v{} = {};\n", text_of_.type(id), id,
                            text_of_.loaded(id, fmt::format("a.in{}[{}]", i, index_of(spec(id).shape, whole))));
    for (const Node& node : parts_.results) text += "    " + statement(node);
    for (size_t i = 0; i < body_.outputs.size(); ++i)
      if (const ValueId id = body_.outputs[i]; !makes(parts_.chain, id))
        text += fmt::format("    a.out{}[i] = {};\n", i, text_of_.stored(id));
    return text;
  }

  const Trace& body_;
  ChainText text_of_;
  Parts parts_;
  bool by_row_;
};

}  // namespace

bool is_reducing(const Node& node) {
  return node.op == &fused_op() &&
         std::any_of(node.body->trace.nodes.begin(), node.body->trace.nodes.end(), is_reduction);
}

std::string_view cuda_reduction_refusal(const Trace& trace, const Node& chain, const Node& reduction) {
  const TensorSpec& source = trace.spec(reduction.inputs[0]);
  if (!is_reduction(reduction) || source.type != DType::f32) return "it is not a sum over positions";
  const bool elements = makes_elements(chain) && !chain.body && source.type == DType::f32;
  if (!elements && !joins_chains(trace, chain)) return "what makes it is not pointwise";
  if (!(trace.spec(chain.first_output).shape == source.shape)) return "the shapes differ";
  const ReduceShape shape = shape_of(trace, reduction);
  if (source.count() == 0 || !shape.contiguous()) return "its elements do not lie without a gap";
  if (shape.by_column && shape.channels < tuning::kLeastCudaChannels)
    return "there are too few channels for threads to write side by side";
  return "";
}

bool reduce_alike(const Trace& trace, const Node& a, const Node& b) {
  return trace.spec(a.inputs[0]).shape == trace.spec(b.inputs[0]).shape &&
         a.attributes.list("axes") == b.attributes.list("axes");
}

CudaChain generate_reducing_chain(const Trace& body) {
  const Writer writer(body);
  CudaChain chain;
  chain.name = fmt::format("reducing_{:016x}", hash_bytes(writer.text("")));
  chain.source = writer.text(chain.name);
  chain.headers = {"retrace/ops/moments/moments_cuda.h"};
  for (const Node& node : body.nodes)
    if (!is_reduction(node)) chain.headers.emplace(header_of(node));
  return chain;
}

int64_t reducing_workspace(const Trace& body) {
  const Parts parts(body);
  return cuda_reduce_workspace(shape_of(body, parts.reductions[0]), value_bytes(parts));
}

void add_reducing_launches(const Trace& body, const cuda::Kernel& kernel, std::span<const void* const> inputs,
                           std::span<void* const> outputs, void* workspace, cuda::Launches& launches) {
  const Parts parts(body);
  for (const auto& pass : cuda_reduce_passes(shape_of(body, parts.reductions[0]), value_bytes(parts), "a reduction",
                                             workspace, launches.counters())) {
    cuda::Launch launch{&kernel, {pass.blocks}, {pass.threads}, pass.shared_bytes, {}};
    launch.set(pass.arguments);
    launch.append(std::as_bytes(inputs)), launch.append(std::as_bytes(outputs));
    launches.add(std::move(launch));
  }
}

}  // namespace retrace
