#include "retrace/plan/cuda/cuda_reduction.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/hash.h"
#include "retrace/ops/reduce/reduce_launch.h"
#include "retrace/plan/cuda/chain_text.h"
#include "retrace/plan/cuda/reducing_body.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// Blocks of 1024 threads leave 64 registers to each.
int64_t most_threads(const ReducingBody& parts) { return parts.value_bytes() <= 16 ? 1024 : 256; }

// Writes one body's kernel.
class Writer {
 public:
  explicit Writer(const Trace& body) : body_(body), text_of_(body), parts_(body) {}

  // The text behind "NAME_": of values, arguments and policy, which name each other by `name`.
  std::string text(const std::string& name) const {
    return fmt::format(
        "struct alignas({10}) {0}_value {{\n{1}}};\n\nstruct {0}_arguments : ReduceArguments {{\n{2}}};\n\nstruct "
        "{0}_policy {{\n"
        "  using Value = {0}_value;\n  static constexpr bool by_row = {3};\n"
        "  static constexpr unsigned step = {9};\n"
        "  static RT_DEVICE Value empty() {{ return {{{4}}}; }}\n"
        "  static RT_DEVICE Value merge(Value a, Value b, long long count_a, long long count_b) {{\n"
        "    return {{{5}}};\n  }}\n  static RT_DEVICE Value fold(Value value) {{ return {{{6}}}; }}\n"
        "  static RT_DEVICE Value item(const {0}_arguments& a, long long o, long long lane, long long p, long long "
        "count) {{\n{7}  }}\n"
        "  static RT_DEVICE void store(const {0}_arguments& a, long long o, long long c, Value value) {{\n{8}  }}\n"
        "}};\n\nRT_KERNEL_BOUNDS({0}, {11}, {0}_arguments, a) {{ reduce_pass<{0}_policy>(a); }}\n\n",
        name, members(), arguments(), parts_.by_row, empty(), merge(), fold(), reducing_item(body_, text_of_, parts_),
        store(), parts_.step(), parts_.value_bytes() % 8 == 0 ? 8 : 4, most_threads(parts_));
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
      return parts_.by_row && is_sum(node) ? fmt::format("fold_lanes(value.r{})", k) : fmt::format("value.r{}", k);
    });
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
      if (const ValueId id = body_.inputs[i]; reads_elements(parts_.results, id))
        text += fmt::format("    const {} v{} = {};\n", text_of_.type(id), id,
                            text_of_.loaded(id, fmt::format("a.in{}[{}]", i, index_of(spec(id).shape, whole))));
    for (const Node& node : parts_.results) text += "    " + statement(node);
    for (size_t i = 0; i < body_.outputs.size(); ++i)
      if (const ValueId id = body_.outputs[i]; !makes_value(parts_.chain, id))
        text += fmt::format("    a.out{}[i] = {};\n", i, text_of_.stored(id));
    return text;
  }

  const Trace& body_;
  ChainText text_of_;
  ReducingBody parts_;
};

}  // namespace

bool is_reducing(const Node& node) {
  return node.op == &fused_op() &&
         std::any_of(node.body->trace.nodes.begin(), node.body->trace.nodes.end(), is_reduction);
}

std::string_view cuda_reduction_refusal(const Trace& trace, const Node& chain, const Node& reduction) {
  const TensorSpec& source = trace.spec(reduction.inputs[0]);
  if (!is_reduction(reduction) || source.type != DType::f32) return "it is not a sum over positions";
  const bool elements =
      makes_elements(chain) && !chain.body && !reports_errors(trace, chain) && source.type == DType::f32;
  if (!elements && !joins_chains(trace, chain)) return "what makes it is not pointwise";
  if (!(trace.spec(chain.first_output).shape == source.shape)) return "the shapes differ";
  const ReduceShape shape = reduced_shape(trace, reduction);
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
  const ReducingBody parts(body);
  return cuda_reduce_workspace(parts.shape, parts.value_bytes(), most_threads(parts));
}

void add_reducing_launches(const GeneratedCall& call) {
  const ReducingBody parts(call.body);
  for (const auto& pass : cuda_reduce_passes(parts.shape, parts.value_bytes(), most_threads(parts), "a reduction",
                                             call.workspace, call.launches.counters())) {
    cuda::Launch launch{&call.kernel, {pass.blocks}, {pass.threads}, pass.shared_bytes, {}};
    launch.set(pass.arguments);
    launch.append(std::as_bytes(call.inputs)), launch.append(std::as_bytes(call.outputs));
    call.launches.add(std::move(launch));
  }
}

}  // namespace retrace
