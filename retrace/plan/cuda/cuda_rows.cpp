#include "retrace/plan/cuda/cuda_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "retrace/base/hash.h"
#include "retrace/plan/cuda/chain_text.h"
#include "retrace/plan/cuda/row_chain_arguments.h"
#include "retrace/plan/programs/row_program.h"
#include "retrace/plan/programs/row_roles.h"
#include "retrace/plan/tuning.h"

namespace retrace {
namespace {

using cuda::kRowBlock;
using RowKind = RowRoles::Step::Kind;

int64_t blocks_of(int64_t rows) { return (rows + kRowBlock - 1) / kRowBlock; }

bool is_column_sum(const Node& sum) { return !sum.op->matrix_product && sum.attributes.list("axes").rank() == 1; }

// Elements of a record that a sum takes: those of its result, or the 16 lanes of a row sum.
int64_t record_size(const RowRoles& roles, const Node& sum) {
  if (sum.op->matrix_product || is_column_sum(sum)) return roles.spec(sum.first_output).shape.count();
  return 16;
}

// A matrix of a product: [depth][width], of which two terms and two outputs are so far apart in memory.
struct RowMatrix {
  RowMatrix(const RowRoles& roles, const Node& product) {
    const Shape& shape = roles.spec(product.inputs[1]).shape;
    const bool transposed = product.op->matrix_product(product.attributes).transpose_b;
    depth = shape[transposed ? 1 : 0], width = shape[transposed ? 0 : 1];
    per_term = transposed ? 1 : shape[1], per_output = transposed ? shape[1] : 1;
  }
  // What load_weights() writes, row_weights_width numbers a term.
  int64_t floats() const {
    const int64_t tile = width > cuda::kNarrowRowTile ? cuda::kRowTile : cuda::kNarrowRowTile;
    return depth * ((width + tile - 1) / tile * tile);
  }
  int64_t depth, width, per_term, per_output;
};

// Where things lie in a block's shared memory, in floats, with so many rows at a time.
struct RowLayout {
  RowLayout(const Trace& body, int rows_at_a_time) : roles(body), rows(rows_at_a_time) {
    floats = static_cast<int64_t>(roles.place_rows(unit(), 0) / unit()) * step();
    places.resize(body.nodes.size());
    for (size_t n = 0; n < body.nodes.size(); ++n) {
      const Node& node = body.nodes[n];
      const RowKind kind = RowRoles::kind_of(node);
      if (node.op->view || kind == RowKind::rules) continue;
      if (kind == RowKind::sum) {
        const int64_t size = record_size(roles, node);
        if (is_column_sum(node)) places[n] = floats, floats += size * cuda::kRowStripStep;
        record += size;
      } else {
        places[n] = floats, floats += RowMatrix(roles, node).floats();
      }
      floats = (floats + 3) / 4 * 4;
    }
  }
  // Places are whole features, so that each row of all values has a column of the memory to itself.
  static size_t unit() { return 64; }                    // bytes that stand for a feature: what places are multiples of
  int64_t step() const { return rows + cuda::kRowPad; }  // row_step
  int64_t place(ValueId id) const { return static_cast<int64_t>(roles.offset(id) / unit()) * step(); }
  size_t bytes() const { return static_cast<size_t>(floats) * sizeof(float) + 16; }  // and who comes last

  RowRoles roles;
  int rows;
  int64_t floats = 0, record = 0;
  std::vector<int64_t> places;  // per node: of weights, of strips
};

// With as many rows at a time as fit.
RowLayout row_layout_of(const Trace& body) {
  for (int rows = kRowBlock; rows > tuning::kFewestCudaRows; rows /= 2)
    if (RowLayout layout(body, rows); layout.bytes() <= tuning::kMostCudaShared) return layout;
  return {body, tuning::kFewestCudaRows};
}

// What the text of a kernel names.
class RowNames {
 public:
  explicit RowNames(const Trace& body) : body_(body), layout_(row_layout_of(body)) {}

 protected:
  const RowRoles& roles() const { return layout_.roles; }
  std::string at(int64_t place) const { return fmt::format("memory + {}", place); }
  int64_t place(ValueId id) const { return layout_.place(id); }
  int64_t features(ValueId id) const { return roles().value(id).features; }
  size_t input_of(ValueId id) const {
    const auto found = std::find(body_.inputs.begin(), body_.inputs.end(), id);
    ensure(found != body_.inputs.end(), "what is small enters a chain of rows from outside");
    return static_cast<size_t>(found - body_.inputs.begin());
  }
  size_t output_of(ValueId id) const {
    return static_cast<size_t>(std::find(body_.outputs.begin(), body_.outputs.end(), id) - body_.outputs.begin());
  }
  template <class F>
  std::string each(RowKind kind, F f) const {
    std::string text;
    int64_t record = 0;
    for (size_t n = 0; n < body_.nodes.size(); ++n) {
      const Node& node = body_.nodes[n];
      if (node.op->view || RowRoles::kind_of(node) != kind) continue;
      text += f(n, node, record);
      if (kind == RowKind::sum) record += record_size(roles(), node);
    }
    return text;
  }

  const Trace& body_;
  const RowLayout layout_;
};

// Writes one body's kernel.
class RowWriter : RowNames {
 public:
  using RowNames::RowNames;

  std::string text(const std::string& name) const {
    std::string fields;
    for (size_t i = 0; i < body_.inputs.size(); ++i) fields += fmt::format("  Global<const float> in{};\n", i);
    for (size_t i = 0; i < body_.outputs.size(); ++i) fields += fmt::format("  Global<float> out{};\n", i);
    return fmt::format(
        "struct {0}_arguments : RowChainArguments {{\n{1}}};\n\n"
        "RT_KERNEL_BOUNDS({0}, kRowThreads, {0}_arguments, a) {{\n"
        "  const auto memory = shared<float>({2});\n  [[maybe_unused]] const auto last = shared<unsigned>(1, memory);\n"
        "  const long long begin = static_cast<long long>(block().x) * kRowBlock;\n"
        "  const int there = static_cast<int>(smaller(kRowBlock, a.rows - begin));\n{3}"
        "  for (int chunk = 0; chunk < there; chunk += {4}) {{\n"
        "    const int present = fewer({4}, there - chunk);\n    barrier();\n{5}{6}{7}  }}\n{8}}}\n\n",
        name, fields, layout_.floats, weights(), layout_.rows, transfers(true), steps(), transfers(false), combine());
  }

 private:
  std::string weights() const {
    std::string text =
        layout_.record == 0
            ? ""
            : fmt::format(
                  "  const Global<float> record = Global<float>(a.records) + static_cast<long long>(block().x) * {};\n",
                  layout_.record);
    return text + each(RowKind::dense, [&](size_t n, const Node& node, int64_t) {
             const RowMatrix matrix(roles(), node);
             return fmt::format("  load_weights<{}, {}, {}, {}>(a.in{}, {});\n", matrix.depth, matrix.width,
                                matrix.per_term, matrix.per_output, input_of(node.inputs[1]), at(layout_.places[n]));
           });
  }

  std::string transfers(bool in) const {
    std::string text;
    const auto& values = in ? body_.inputs : body_.outputs;
    for (size_t i = 0; i < values.size(); ++i)
      if (const ValueId id = values[i]; roles().is_rows(id) && roles().value(id).last >= 0)
        text += in ? fmt::format("    load_rows<{}, {}>(a.in{}, begin + chunk, present, {});\n", layout_.rows,
                                 features(id), i, at(place(id)))
                   : fmt::format("    store_rows<{}, {}>({}, begin + chunk, present, a.out{});\n", layout_.rows,
                                 features(id), at(place(id)), i);
    return text.empty() || in ? text : "    barrier();\n" + text;
  }

  // A thread keeps to its row where it has one of its own; only sums read those of others.
  bool needs_barrier(RowKind before, RowKind now) const {
    if (before == RowKind::sum && now == RowKind::sum) return false;
    return before == RowKind::sum || now == RowKind::sum || layout_.rows < cuda::kRowThreads;
  }

  std::string steps() const {
    std::string text = "    barrier();\n";
    int64_t record = 0;
    for (size_t s = 0; s < roles().steps().size(); ++s) {
      const auto& step = roles().steps()[s];
      if (s > 0 && needs_barrier(roles().steps()[s - 1].kind, step.kind)) text += "    barrier();\n";
      std::set<ValueId> known;
      if (step.kind == RowKind::rules)
        text += fmt::format(
            "    for (RowPlace<{0}> at; at.part < {1}; at.part += at.parts) {{\n"
            "      const int c = at.part, e = c * row_step<{0}> + at.row;\n",
            layout_.rows, step.features);
      for (size_t n = 0; n < body_.nodes.size(); ++n) {
        if (roles().step_of(n) != static_cast<int64_t>(s)) continue;
        const Node& node = body_.nodes[n];
        if (step.kind == RowKind::dense) text += product(n, node);
        if (step.kind == RowKind::rules) text += rule(node, known);
        if (step.kind == RowKind::sum) text += sum(n, node, record), record += record_size(roles(), node);
      }
      if (step.kind == RowKind::rules) text += "    }\n";
    }
    return text;
  }

  std::string product(size_t n, const Node& node) const {
    const RowRoles::After& then = roles().after(n);
    const RowMatrix matrix(roles(), node);
    std::string after;
    if (then.bias != kNoValue) after += fmt::format("      value = value + a.in{}[c];\n", input_of(then.bias));
    if (then.kind == RowRoles::After::Kind::relu)
      after += "      value = rules::select(rules::less(value, 0.0f), 0.0f, value);\n";
    if (then.kind == RowRoles::After::Kind::mask)
      after += fmt::format(
          "      const float bound = a.in{}[0], mask = memory[{} + e], otherwise = a.in{}[0];\n"
          "      value = rules::select(rules::less(bound, mask), value, otherwise);\n",
          input_of(then.bound), place(then.mask), input_of(then.otherwise));
    return fmt::format(
        "    multiply_rows<{}, {}, {}>({}, {}, {}, [&]([[maybe_unused]] int c, [[maybe_unused]] int e, float value) "
        "-> float {{\n{}      return value;\n    }});\n",
        layout_.rows, matrix.depth, matrix.width, at(place(node.inputs[0])), at(layout_.places[n]),
        at(place(node.first_output)), after);
  }

  // `known`: the values that the step has in registers, by their roots.
  std::string rule(const Node& node, std::set<ValueId>& known) const {
    std::string text;
    Node by_roots = node;
    for (ValueId& id : by_roots.inputs) {
      const bool rows = roles().is_rows(id);
      const ValueId given = id;
      id = roles().root(id);
      if (!known.insert(id).second) continue;
      text += rows ? fmt::format("      const float v{} = memory[{} + e];\n", id, place(id))
                   : fmt::format("      const float v{} = a.in{}[{}];\n", id, input_of(given),
                                 roles().spec(given).shape.count() == 1 ? "0" : "c");
    }
    const ValueId made = node.first_output;
    known.insert(made);
    text += fmt::format("      const float v{} = {};\n", made, rule_call(by_roots));
    if (!roles().value(made).single) text += fmt::format("      memory[{} + e] = v{};\n", place(made), made);
    return text;
  }

  std::string sum(size_t n, const Node& node, int64_t record) const {
    const std::string a = at(place(node.inputs[0])), to = fmt::format("record + {}", record);
    const int64_t m = features(node.inputs[0]);
    if (node.op->matrix_product)
      return fmt::format("    add_products<{}, {}, {}>({}, {}, present, chunk == 0, {});\n", layout_.rows, m,
                         features(node.inputs[1]), a, at(place(node.inputs[1])), to);
    if (is_column_sum(node))
      return fmt::format("    add_strips<{}, {}>({}, present, chunk / kRowStrip, {});\n", layout_.rows, m, a,
                         at(layout_.places[n]));
    return fmt::format("    add_lanes({}, present, chunk == 0, {});\n", a, to);
  }

  std::string combine() const {
    if (layout_.record == 0) return "";
    const std::string strips = each(RowKind::sum, [&](size_t n, const Node& node, int64_t record) {
      return !is_column_sum(node) ? ""
                                  : fmt::format("  add_up_strips<{}>({}, there, record + {});\n",
                                                features(node.inputs[0]), at(layout_.places[n]), record);
    });
    const std::string sums = each(RowKind::sum, [&](size_t, const Node& node, int64_t record) {
      const size_t out = output_of(node.first_output);
      if (node.op->matrix_product || is_column_sum(node))
        return fmt::format("  write_sums<{}>(a, {}, {}, a.out{});\n", layout_.record, record,
                           record_size(roles(), node), out);
      return fmt::format("  write_sum_of_lanes<{}>(a, {}, a.out{});\n", layout_.record, record, out);
    });
    return fmt::format("{}{}  if (!combines_records<{}>(a, last)) return;\n{}", strips.empty() ? "" : "  barrier();\n",
                       strips, layout_.record, sums);
  }
};

// Multiply-adds that a row takes.
int64_t row_work_of(const Trace& body) {
  int64_t work = 0;
  for (const Node& node : body.nodes)
    if (node.op->matrix_product) {
      const Shape &a = body.spec(node.inputs[0]).shape, &b = body.spec(node.inputs[1]).shape;
      const bool sum = RowRoles::kind_of(node) == RowKind::sum;
      work += sum ? a[1] * b[1] : b.count();
    }
  return work;
}

// How the records of a chain's blocks are combined.
cuda::RowChainArguments row_arguments_of(const RowRoles& roles, int64_t record) {
  cuda::RowChainArguments arguments{};
  arguments.rows = roles.rows();
  if (record == 0) return arguments;
  const int64_t blocks = blocks_of(roles.rows());
  int64_t per = 16;
  while (per * per < blocks) per *= 2;
  arguments.blocks = static_cast<int>(blocks), arguments.per_group = static_cast<int>(per);
  arguments.groups = static_cast<int>((blocks + per - 1) / per);
  return arguments;
}

}  // namespace

bool is_row_chain(const Node& node) { return node.op == &row_chain_op(); }

std::string_view cuda_rows_refusal(const Trace& body) {
  const RowLayout layout = row_layout_of(body);
  const auto products = std::count_if(body.nodes.begin(), body.nodes.end(),
                                      [](const Node& node) { return node.op->matrix_product != nullptr; });
  const size_t words = body.inputs.size() + body.outputs.size() + 16;
  if (row_work_of(body) > products * tuning::kMostCudaRowWork) return "its layers are too wide for a thread a row";
  if (layout.bytes() > tuning::kMostCudaShared) return "its rows do not fit shared memory";
  if (words * sizeof(void*) > tuning::kMostCudaArguments) return "it has too many arguments";
  if (blocks_of(layout.roles.rows()) > cuda::kMostRowBlocks) return "it has too many rows";
  return "";
}

CudaChain generate_row_chain(const Trace& body) {
  const RowWriter writer(body);
  CudaChain chain;
  chain.name = fmt::format("rows_{:016x}", hash_bytes(writer.text("")));
  chain.source = writer.text(chain.name);
  chain.headers = {"retrace/plan/cuda/row_chain_kernel.h"};
  for (const Node& node : body.nodes)
    if (node.op->rule) chain.headers.emplace(node.op->rule->header);
  return chain;
}

int64_t row_chain_workspace(const Trace& body) {
  const RowLayout layout = row_layout_of(body);
  const auto arguments = row_arguments_of(layout.roles, layout.record);
  return (int64_t{arguments.blocks} + arguments.groups) * layout.record * static_cast<int64_t>(sizeof(float));
}

void add_row_chain_launch(const GeneratedCall& call) {
  const RowLayout layout = row_layout_of(call.body);
  cuda::RowChainArguments arguments = row_arguments_of(layout.roles, layout.record);
  arguments.records = call.workspace;
  arguments.group_records = static_cast<float*>(call.workspace) + arguments.blocks * layout.record;
  arguments.counters = call.launches.counters();
  cuda::Launch launch{
      &call.kernel, {static_cast<unsigned>(blocks_of(layout.roles.rows()))}, {cuda::kRowThreads}, layout.bytes(), {}};
  launch.set(arguments);
  launch.append(std::as_bytes(call.inputs)), launch.append(std::as_bytes(call.outputs));
  call.launches.add(std::move(launch));
}

}  // namespace retrace
