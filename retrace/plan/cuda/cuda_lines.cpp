#include "retrace/plan/cuda/cuda_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "retrace/base/hash.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/plan/cuda/chain_text.h"
#include "retrace/plan/cuda/line_body.h"
#include "retrace/plan/cuda/line_chain_arguments.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/plan/tuning.h"

namespace retrace {
namespace {

using Kind = LineBody::Kind;

size_t place_in(std::span<const ValueId> values, ValueId id) {
  return static_cast<size_t>(std::find(values.begin(), values.end(), id) - values.begin());
}

// What is summed over all lines, but is neither read from memory nor written there otherwise.
std::vector<ValueId> terms_of(const LineBody& parts) {
  std::vector<ValueId> terms;
  const auto is_in = [](std::span<const ValueId> values, ValueId id) { return place_in(values, id) < values.size(); };
  for (const Node& node : parts.body.nodes) {
    if (parts.role(node) != LineRole::sum) continue;
    const ValueId id = node.inputs[0];
    if (!is_in(parts.body.inputs, id) && !is_in(parts.body.outputs, id) && !is_in(terms, id)) terms.push_back(id);
  }
  return terms;
}

unsigned threads_of(const LineBody& parts) {
  return parts.has_sums() ? tuning::kCudaSummingLineThreads : tuning::kCudaLineThreads;
}

// LineLanes<features>::threads.
int64_t threads_of_line(const LineBody& parts) {
  if (parts.features > 256) return 32;
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(parts.features, 16))));
}

int64_t blocks_for_lines(const LineBody& parts) {
  const int64_t lines = threads_of(parts) / threads_of_line(parts);
  return (parts.lines() + lines - 1) / lines;
}

// Writes one body's kernel.
class LineWriter {
 public:
  explicit LineWriter(const Trace& body) : body_(body), parts_(body), text_of_(body), terms_(terms_of(parts_)) {}

  std::string text(const std::string& name) const {
    return fmt::format(
        "struct {0}_arguments : LineChainArguments {{\n{1}}};\n\n"
        "RT_KERNEL_BOUNDS({0}, {2}, {0}_arguments, a) {{\n  using Lanes = LineLanes<{3}>;\n"
        "  const unsigned line = block().x * ({2} / Lanes::threads) + thread().x / Lanes::threads, first = line * "
        "{3};\n"
        "  const bool there = line < a.lines;\n{4}{5}{6}}}\n\n",
        name, fields(), threads_of(parts_), parts_.features, loads(), made(), sums());
  }

 private:
  const TensorSpec& spec(ValueId id) const { return body_.spec(id); }
  bool is_array(ValueId id) const { return parts_.kind(id) == Kind::elements; }

  std::string fields() const {
    std::string text;
    for (size_t i = 0; i < body_.inputs.size(); ++i)
      text += fmt::format("  Global<const {}> in{};\n", memory_type(spec(body_.inputs[i]).type), i);
    for (size_t i = 0; i < body_.outputs.size(); ++i)
      text += fmt::format("  Global<{}> out{};\n", memory_type(spec(body_.outputs[i]).type), i);
    for (size_t i = 0; i < terms_.size(); ++i) text += fmt::format("  Global<float> terms{};\n", i);
    return text + (reporting_node(body_) ? "  ErrorTarget errors;\n" : "");
  }

  // For each element of the thread: those of these values are there.
  std::string each_element(std::span<const ValueId> values, const std::string& work, bool there = false) const {
    std::string text = "  RT_UNROLL\n  for (int j = 0; j < Lanes::each; ++j) {\n";
    if (there) text += "    if (!there || !Lanes::has(j)) continue;\n    const unsigned i = first + Lanes::place(j);\n";
    std::vector<ValueId> known;
    for (ValueId id : values)
      if (is_array(id) && place_in(known, id) == known.size())
        known.push_back(id), text += fmt::format("    const float v{0} = e{0}[j];\n", id);
    return text + work + "  }\n";
  }

  std::string loads() const {
    std::string text;
    for (size_t i = 0; i < body_.inputs.size(); ++i)
      if (is_read(body_.inputs[i])) text += load(i);
    return text;
  }
  bool is_read(ValueId id) const {
    return std::any_of(body_.nodes.begin(), body_.nodes.end(), [&](const Node& node) {
      const LineRole role = parts_.role(node);
      return role != LineRole::sum && role != LineRole::element && place_in(node.inputs, id) < node.inputs.size();
    });
  }
  std::string load(size_t number) const {
    const ValueId id = body_.inputs[number];
    const Shape& shape = spec(id).shape;
    const auto element = [&](const std::string& index) {
      return text_of_.loaded(id, fmt::format("a.in{}[{}]", number, index));
    };
    if (parts_.kind(id) == Kind::number) return fmt::format("  const float v{} = {};\n", id, element("0"));
    if (!is_array(id))
      return fmt::format("  float v{0} = 0.0f;\n  if (const unsigned i = line; there) v{0} = {1};\n", id,
                         element(index_of(shape, number_of_line(parts_.whole))));
    return fmt::format("  float e{}[Lanes::each] = {{}};\n", id) +
           each_element({}, fmt::format("    e{}[j] = {};\n", id, element(index_of(shape, parts_.whole))), true);
  }

  std::string numbers(const Node& node) const {
    std::string declared, passed;
    for (int i = 0; i < node.output_count; ++i) {
      const ValueId to = node.first_output + i;
      declared += fmt::format("  float v{};\n", to), passed += fmt::format(", v{}", to);
    }
    return fmt::format("{}  {}<{}>(e{}{});\n", declared, node.op->cuda_line.function, parts_.features, node.inputs[0],
                       passed);
  }

  std::string made() const {
    std::string text;
    for (const Node& node : body_.nodes) {
      const ValueId to = node.first_output, from = node.inputs[0];
      switch (parts_.role(node)) {
        case LineRole::element:
          text += fmt::format("  float e{}[Lanes::each] = {{}};\n", to) +
                  each_element({}, fmt::format("    e{}[j] = {};\n", to, element_text(body_, node)), true);
          break;
        case LineRole::number: text += numbers(node); break;
        case LineRole::line:
          text += fmt::format("  float e{0}[Lanes::each];\n  {1}<{2}>(e{3}, e{0});\n", to, node.op->cuda_line.function,
                              parts_.features, from);
          break;
        case LineRole::rule:
          text += is_array(to)
                      ? fmt::format("  float e{}[Lanes::each];\n", to) +
                            each_element(node.inputs, fmt::format("    e{}[j] = {};\n", to, text_of_.computed(node)))
                      : fmt::format("  const float v{} = {};\n", to, text_of_.computed(node));
          break;
        default: break;
      }
      for (int i = 0; i < node.output_count; ++i) text += stores(to + i);
    }
    return text;
  }

  std::string store(ValueId id, const std::string& to) const {
    if (is_array(id))
      return each_element(std::span(&id, 1), fmt::format("    {}[i] = {};\n", to, text_of_.stored(id)), true);
    return fmt::format("  if (there && Lanes::lane() == 0) {}[line] = {};\n", to, text_of_.stored(id));
  }
  // Of what a node has made.
  std::string stores(ValueId id) const {
    if (parts_.kind(id) == Kind::sum) return "";
    const size_t out = place_in(body_.outputs, id), terms = place_in(terms_, id);
    if (out < body_.outputs.size()) return store(id, fmt::format("a.out{}", out));
    return terms < terms_.size() ? store(id, fmt::format("a.terms{}", terms)) : "";
  }

  // Where the lines of a value lie in memory.
  std::string memory_of(ValueId id) const {
    if (const size_t i = place_in(terms_, id); i < terms_.size()) return fmt::format("a.terms{}", i);
    if (const size_t i = place_in(body_.outputs, id); i < body_.outputs.size()) return fmt::format("a.out{}", i);
    return fmt::format("a.in{}", place_in(body_.inputs, id));
  }
  std::string sums() const {
    if (!parts_.has_sums()) return "";
    std::string text = fmt::format(
        "  const auto values = shared<float>({});\n"
        "  if (!sums_lines(a, shared<unsigned>(1, values))) return;\n  const auto lines = static_cast<int>(a.lines);\n",
        threads_of(parts_));
    for (const Node& node : body_.nodes) {
      if (parts_.role(node) != LineRole::sum) continue;
      const ValueId from = node.inputs[0];
      const auto features = static_cast<uint64_t>(spec(from).shape.back());
      const size_t out = place_in(body_.outputs, node.first_output);
      if (is_total(body_, node))
        text += fmt::format("  sum_all_of_lines<{}>(values, {}, lines * {}, a.out{});\n", threads_of(parts_),
                            memory_of(from), features, out);
      else
        text += fmt::format("  sum_columns_of_lines<{}, {}, {}>(values, {}, lines, a.out{});\n", threads_of(parts_),
                            std::bit_ceil(features), features, memory_of(from), out);
    }
    return text;
  }

  const Trace& body_;
  LineBody parts_;
  ChainText text_of_;
  std::vector<ValueId> terms_;
};

// The addresses of the terms, in a workspace or for its size.
std::vector<float*> place_terms(const LineBody& parts, Workspace& space) {
  std::vector<float*> places;
  for (ValueId id : terms_of(parts)) places.push_back(space.take<float>(parts.body.spec(id).count()));
  return places;
}

}  // namespace

const Op& line_chain_op() {
  static const Op op{.name = "line_chain", .inputs = -1, .infer = infer_by_body};
  return op;
}

std::string_view cuda_lines_refusal(const Trace& body) {
  for (const Node& node : body.nodes)
    if (line_form(body, node).role == LineRole::none) return "a part of it does not go line by line";
  const LineBody parts(body);
  const size_t words = body.inputs.size() + body.outputs.size() + terms_of(parts).size() + 8;
  if (words * sizeof(void*) > tuning::kMostCudaArguments) return "it has too many arguments";
  if (parts.most_held() > tuning::kMostCudaLineHeld) return "its lines do not fit registers";
  if (parts.each * static_cast<int64_t>(body.nodes.size()) > tuning::kMostCudaLineWork) return "its lines are too long";
  return "";
}

CudaChain generate_line_chain(const Trace& body) {
  const LineWriter writer(body);
  CudaChain chain;
  chain.name = fmt::format("lines_{:016x}", hash_bytes(writer.text("")));
  chain.source = writer.text(chain.name);
  chain.headers = {"retrace/plan/cuda/line_chain_kernel.h"};
  for (const Node& node : body.nodes) {
    const bool has_text = node.op->rule || node.op->cuda_element.text || is_conversion(node);
    if (has_text) chain.headers.emplace(header_of(node));
    if (!node.op->cuda_line.function.empty()) chain.headers.emplace(node.op->cuda_line.header);
  }
  return chain;
}

int64_t line_chain_workspace(const Trace& body) {
  Workspace space(nullptr);
  place_terms(LineBody(body), space);
  return space.bytes();
}

void add_line_chain_launch(const GeneratedCall& call) {
  const LineBody parts(call.body);
  Workspace space(call.workspace);
  const auto terms = place_terms(parts, space);
  const auto blocks = static_cast<unsigned>(blocks_for_lines(parts));
  cuda::LineChainArguments arguments{static_cast<unsigned>(parts.lines()), blocks, call.launches.counters()};
  const size_t shared = parts.has_sums() ? threads_of(parts) * sizeof(float) + 16 : 0;
  cuda::Launch launch{&call.kernel, {blocks}, {threads_of(parts)}, shared, {}};
  launch.set(arguments);
  launch.append(std::as_bytes(call.inputs)), launch.append(std::as_bytes(call.outputs));
  launch.append(std::as_bytes(std::span(terms)));
  if (reporting_node(call.body)) launch.append(std::as_bytes(std::span(&call.errors, 1)));
  call.launches.add(std::move(launch));
}

}  // namespace retrace
