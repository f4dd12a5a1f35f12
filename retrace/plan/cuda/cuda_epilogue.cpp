#include "retrace/plan/cuda/cuda_epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "retrace/base/error.h"
#include "retrace/base/hash.h"
#include "retrace/base/range.h"
#include "retrace/ops/reduce/reduction.h"
#include "retrace/ops/reduce/tile_sum_arguments.h"
#include "retrace/plan/cuda/chain_text.h"
#include "retrace/plan/cuda/cuda_chain.h"
#include "retrace/plan/tuning.h"

namespace retrace {
namespace {

// The op's only kernel, if it has forms: seen in what the op launches, without addresses.
cuda::KernelWithForms kernel_of(const Trace& trace, const Node& node, Mode mode = Mode::reproducible) {
  if (!node.op->contraction || !node.op->cuda) return {};
  std::vector<KernelInput> inputs;
  for (size_t i = 0; i < node.own_inputs(); ++i) inputs.push_back({nullptr, &trace.spec(node.inputs[i])});
  const TensorSpec& made =
      has_epilogue(node) ? node.body->trace.spec(node.body->trace.inputs[0]) : trace.spec(node.first_output);
  const KernelOutput output{nullptr, &made};
  cuda::Launches launches(mode);
  try {
    node.op->cuda({node.attributes, inputs, std::span(&output, 1), nullptr, launches});
  } catch (const Error&) {  // of arguments that it has no kernel for; the plan says so
    return {};
  }
  return launches.all().size() == 1 ? launches.with_forms() : cuda::KernelWithForms{};
}

// The sum that a body ends with, which has no other user of its own; or null.
const Node* sum_of(const Body& body) { return body.reductions > 0 ? &body.trace.nodes.back() : nullptr; }

ReduceShape sum_shape(const Trace& trace, const Node& reduction) {
  return ReduceShape(trace.spec(reduction.inputs[0]).shape, reduction.attributes.list("axes"));
}

int64_t tiles_of(const cuda::KernelWithForms& kernel, const ReduceShape& shape) {
  return divide_up(shape.positions, int64_t{kernel.rows});
}

// Writes the form of one body: how it stores one element, and four, and what it does with a tile.
class FormWriter {
 public:
  explicit FormWriter(const Body& body)
      : body_(body.trace),
        sum_(sum_of(body)),
        stored_(body_.outputs.size() - (sum_ ? 1 : 0)),
        text_of_(body_),
        whole_(spec(body_.inputs[0]).shape) {}

  // The members of the form.
  std::string text() const {
    return fmt::format(
        "{0}  static constexpr bool plain = false;\n"
        "  RT_DEVICE void put(long long at, float v{1}) const {{\n"
        "    [[maybe_unused]] const auto i = static_cast<unsigned>(at);\n{2}{3}{4}  }}\n"
        "  RT_DEVICE void put4(long long at, Float4 values) const {{\n"
        "    const auto first = static_cast<unsigned>(at);\n"
        "    const float given[4] = {{values.x, values.y, values.z, values.w}};\n{5}    RT_UNROLL\n"
        "    for (int k = 0; k < 4; ++k) {{\n"
        "      [[maybe_unused]] const unsigned i = first + static_cast<unsigned>(k);\n"
        "      const float v{1} = given[k];\n{6}{3}{7}    }}\n{8}  }}\n"
        "  template <int rows, int columns, int threads>\n"
        "  RT_DEVICE void finish([[maybe_unused]] int tile, [[maybe_unused]] int column_tile) const {{\n{9}  }}\n",
        fields(), raw(), loads(false), rules(), stores(false), wide_loads(), loads(true), stores(true), wide_stores(),
        finish());
  }

 private:
  const TensorSpec& spec(ValueId id) const { return body_.spec(id); }
  ValueId raw() const { return body_.inputs[0]; }

  std::string fields() const {
    std::string text;
    for (size_t n = 1; n < body_.inputs.size(); ++n)
      text += fmt::format("  Global<const {}> in{};\n", memory_type(spec(body_.inputs[n]).type), n);
    for (size_t n = 0; n < stored_; ++n)
      text += fmt::format("  Global<{}> out{};\n", memory_type(spec(body_.outputs[n]).type), n);
    return sum_ ? text + "  TileSumArguments sum;\n" : text;
  }
  // Whether four neighbours of an input lie together at a multiple of four where those of the result do.
  bool in_fours(ValueId id) const {
    const Shape& shape = spec(id).shape;
    const bool together = index_of(shape, whole_).find('/') == std::string::npos;
    return spec(id).type == DType::f32 && together && shape.count() % 4 == 0;
  }
  std::string wide_loads() const {
    std::string text;
    for (size_t n = 1; n < body_.inputs.size(); ++n) {
      const ValueId id = body_.inputs[n];
      if (!in_fours(id)) continue;
      const bool same = spec(id).shape.count() == whole_.count();
      text += fmt::format(
          "    const Float4 four{0} = load4(in{0}, first{1});\n"
          "    const float x{0}[4] = {{four{0}.x, four{0}.y, four{0}.z, four{0}.w}};\n",
          n, same ? "" : fmt::format(" % {}u", spec(id).shape.count()));
    }
    for (size_t n = 0; n < stored_; ++n)
      if (spec(body_.outputs[n]).type == DType::f32) text += fmt::format("    float y{}[4];\n", n);
    return text;
  }
  std::string loads(bool wide) const {
    std::string text;
    for (size_t n = 1; n < body_.inputs.size(); ++n) {
      const ValueId id = body_.inputs[n];
      const std::string element = wide && in_fours(id) ? fmt::format("x{}[k]", n)
                                                       : fmt::format("in{}[{}]", n, index_of(spec(id).shape, whole_));
      text += fmt::format("    const {} v{} = {};\n", text_of_.type(id), id, text_of_.loaded(id, element));
    }
    return text;
  }
  std::string rules() const {
    std::string text;
    for (const Node& node : std::span(body_.nodes).first(body_.nodes.size() - (sum_ ? 1 : 0)))
      text += fmt::format("    const {} v{} = {};\n", text_of_.type(node.first_output), node.first_output,
                          text_of_.computed(node));
    return text;
  }
  std::string stores(bool wide) const {
    std::string text;
    for (size_t n = 0; n < stored_; ++n) {
      const TensorSpec& made = spec(body_.outputs[n]);
      const std::string to = wide && made.type == DType::f32 ? fmt::format("y{}[k]", n) : fmt::format("out{}[i]", n);
      text += fmt::format("    {} = {};\n", to, text_of_.stored(body_.outputs[n]));
    }
    return text;
  }
  std::string wide_stores() const {
    std::string text;
    for (size_t n = 0; n < stored_; ++n)
      if (spec(body_.outputs[n]).type == DType::f32)
        text += fmt::format("    store4(out{0}, first, {{y{0}[0], y{0}[1], y{0}[2], y{0}[3]}});\n", n);
    return text;
  }

  std::string finish() const {
    if (!sum_) return "";
    const auto at = std::find(body_.outputs.begin(), body_.outputs.end(), sum_->inputs[0]) - body_.outputs.begin();
    ensure(static_cast<size_t>(at) < stored_, "a form adds up what it stores");
    return fmt::format("    sum_tile<rows, columns, threads>(sum, out{}, tile, column_tile);\n", at);
  }

  const Trace& body_;
  const Node* const sum_;
  const size_t stored_;  // outputs that are stored element by element: the first ones
  ChainText text_of_;
  const Shape& whole_;
};

}  // namespace

bool has_epilogue(const Node& node) { return node.body && node.body->role == Body::Role::epilogue; }

bool takes_cuda_epilogue(const Trace& trace, const Node& contraction) {
  return !kernel_of(trace, contraction).name.empty();
}

std::string_view cuda_epilogue_refusal(const Trace& trace, const Node& contraction, const Node& chain) {
  if (!is_float_chain(trace, chain)) return "what reads it is not pointwise";
  const Trace body = chain_body(trace, chain);
  const bool costly =
      std::any_of(body.nodes.begin(), body.nodes.end(), [](const Node& node) { return node.op->costly; });
  if (costly || body.nodes.size() > tuning::kMostCudaEpilogueOps)
    return "each thread would compute too much for the elements that it stores";
  const size_t words = body.inputs.size() + body.outputs.size() + 1;  // the result itself may be returned, too
  if (words > tuning::kMostCudaEpilogueArrays) return "the chain has too many arguments";
  return trace.spec(contraction.first_output).count() < int64_t{1} << 32 ? "" : "its elements are too many";
}

std::string_view tile_sum_refusal(const Trace& trace, const Node& contraction, const Node& reduction) {
  const TensorSpec& source = trace.spec(reduction.inputs[0]);
  if (!reduction.op->sum || source.type != DType::f32) return "it is not a sum over positions";
  if (contraction.body && !has_epilogue(contraction)) return "what makes it is not pointwise";
  const ReduceShape shape = sum_shape(trace, reduction);
  const int64_t width = source.shape.rank() > 0 ? source.shape[source.shape.rank() - 1] : 0;
  if (!shape.by_column || shape.outer != 1 || !shape.contiguous() || shape.channels != width)
    return "the sum is not over all axes but the last";
  if (source.count() == 0 || source.count() >= int64_t{1} << 32) return "its elements are too many";
  // A trace is planned in any mode, and each has tiles of its own.
  for (const Mode mode : {Mode::reproducible, Mode::fast, Mode::fast_bf16}) {
    const cuda::KernelWithForms kernel = kernel_of(trace, contraction, mode);
    if (kernel.name.empty()) return "what makes it is not pointwise";
    if (kernel.rows == 0) return "a block of threads makes no neighbouring positions";
    const int64_t counters =
        cuda::tile_sum_counters(tiles_of(kernel, shape)) * divide_up(width, int64_t{kernel.columns});
    if (counters > cuda::Launches::kCounters) return "its tiles are too many to combine their sums";
  }
  return "";
}

int64_t tile_sum_workspace(const Trace& trace, const Node& node, Mode mode) {
  const Node* const sum = sum_of(*node.body);
  if (!sum) return 0;
  const ReduceShape shape = sum_shape(node.body->trace, *sum);
  return cuda::tile_sum_parts(tiles_of(kernel_of(trace, node, mode), shape)) * shape.channels * int64_t{sizeof(float)};
}

CudaEpilogue generate_epilogue(const Trace& trace, const Node& node, Mode mode) {
  const cuda::KernelWithForms plain = kernel_of(trace, node, mode);
  ensure(!plain.name.empty(), "an epilogue is of a kernel that has forms");
  const std::string members = FormWriter(*node.body).text();
  std::set<std::string> headers{std::string(plain.header)};
  const Node* const sum = sum_of(*node.body);
  for (const Node& each : node.body->trace.nodes)
    headers.emplace(&each == sum ? "retrace/ops/reduce/tile_sum_cuda.h" : header_of(each));
  CudaEpilogue made;
  made.name = fmt::format("{}_{:016x}", plain.name, hash_bytes(members));
  for (const auto& header : headers) made.source += fmt::format("#include \"{}\"\n", header);
  made.source += fmt::format(
      "\nusing namespace retrace;\nusing namespace retrace::cuda;\n\nstruct {0}_epilogue {{\n{2}}};\n\n"
      "struct {0}_arguments {{\n  {1}_form::Arguments own;\n  {0}_epilogue epilogue;\n}};\n\n"
      "RT_KERNEL_RESIDENT({0}, {1}_form::threads, {1}_form::blocks, {0}_arguments, a) {{\n"
      "  {1}_of(a.own, a.epilogue);\n}}\n",
      made.name, plain.name, members);
  return made;
}

namespace {

cuda::TileSumArguments sum_arguments(const Trace& trace, const Node& node, void* out, void* workspace,
                                     cuda::Launches& launches) {
  const ReduceShape shape = sum_shape(node.body->trace, *sum_of(*node.body));
  const int64_t tiles = tiles_of(kernel_of(trace, node, launches.mode()), shape);
  return {.parts = workspace,
          .out = out,
          .counters = launches.counters(),
          .positions = shape.positions,
          .channels = static_cast<int>(shape.channels),
          .tiles = static_cast<int>(tiles),
          .tile_counters = static_cast<int>(cuda::tile_sum_counters(tiles))};
}

}  // namespace

// What the op takes for its result has no memory of its own. A kernel that has forms needs no workspace.
void add_epilogue_launch(const Trace& trace, const Node& node, const cuda::Kernel& kernel,
                         std::span<const KernelInput> inputs, std::span<const KernelOutput> outputs, void* workspace,
                         cuda::Launches& launches) {
  const size_t own = node.own_inputs();
  const bool sums = node.body->reductions > 0;
  std::vector<const void*> words;
  for (const KernelInput& input : inputs.subspan(own)) words.push_back(input.data);
  for (const KernelOutput& output : outputs.first(outputs.size() - (sums ? 1 : 0))) words.push_back(output.data);
  const auto of_chain = std::as_bytes(std::span(words));
  std::vector<std::byte> arguments(of_chain.begin(), of_chain.end());
  if (sums) {
    const auto sum = sum_arguments(trace, node, outputs.back().data, workspace, launches);
    const auto of_sum = std::as_bytes(std::span(&sum, 1));
    arguments.insert(arguments.end(), of_sum.begin(), of_sum.end());
  }
  launches.use_form(kernel, arguments);
  const Trace& body = node.body->trace;
  const KernelOutput raw{nullptr, &body.spec(body.inputs[0])};
  node.op->cuda({node.attributes, inputs.first(own), std::span(&raw, 1), workspace, launches});
}

}  // namespace retrace
