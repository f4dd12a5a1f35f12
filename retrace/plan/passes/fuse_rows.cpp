#include <algorithm>
#include <optional>

#include "retrace/plan/cuda/cuda_rows.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/programs/row_kernels.h"
#include "retrace/plan/programs/row_program.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// The nodes that a chain over `rows` rows can take in: each reads rows of the chain or what does not depend on it.
class RowGroup {
 public:
  RowGroup(const Trace& trace, int64_t rows, const std::vector<bool>& banned)
      : trace_(trace), cuda_(device_of(trace) > 0), rows_(rows), where_(trace.nodes.size(), Where::before) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      const Node& node = trace.nodes[n];
      if (!banned[n] && joins(node)) {
        where_[n] = Where::inside;
        products_ += node.op->matrix_product != nullptr;
      } else if (std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return !free(id); })) {
        where_[n] = Where::after;
      }
    }
  }

  enum class Where { before, inside, after };
  Where where(size_t node) const { return where_[node]; }
  int products() const { return products_; }

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.spec(id); }
  Where where_made(ValueId id) const {
    const size_t p = trace_.producer_index(id);
    return p == kNoNode ? Where::before : where_[p];
  }
  bool free(ValueId id) const { return where_made(id) == Where::before; }

  static bool narrow(int64_t features) { return features >= 1 && features <= tuning::kMostChainFeatures; }
  bool has_rows(ValueId id) const {
    const Shape& shape = spec(id).shape;
    return shape.rank() == 2 && shape[0] == rows_ && narrow(shape[1]);
  }
  bool rows(ValueId id) const {
    if (!has_rows(id) || where_made(id) == Where::after || is_sum(id)) return false;
    return spec(id).type == DType::f32 || (spec(id).type == DType::boolean && !free(id));
  }
  // Made inside over all rows, and of as many by chance.
  bool is_sum(ValueId id) const {
    const Node* const made = trace_.producer(id);
    return made && where_made(id) == Where::inside && !made->op->rule && !made->op->view &&
           !(made->op->matrix_product && !made->op->matrix_product(made->attributes).transpose_a);
  }
  bool float_rows(ValueId id) const { return rows(id) && spec(id).type == DType::f32; }
  bool small(ValueId id) const { return free(id) && spec(id).type == DType::f32 && !has_rows(id); }

  bool joins(const Node& node) const {
    if (node.body) return false;
    if (node.op->matrix_product) return product_joins(node);
    if (node.op->sum) return sum_joins(node);
    if (node.op->view)
      return rows(node.inputs[0]) && !free(node.inputs[0]) &&
             spec(node.first_output).shape == spec(node.inputs[0]).shape;
    return has_rows(node.first_output) && (cuda_ ? is_float_chain(trace_, node) : can_tile(trace_, node)) &&
           rule_joins(node);
  }
  bool product_joins(const Node& node) const {
    const ValueId a = node.inputs[0], b = node.inputs[1];
    const MatrixProduct product = node.op->matrix_product(node.attributes);
    if (product.transpose_a) return !product.transpose_b && float_rows(a) && float_rows(b);
    return float_rows(a) && small(b) && spec(b).shape.rank() == 2 && has_rows(node.first_output);
  }
  bool sum_joins(const Node& node) const {
    const Shape& axes = node.attributes.list("axes");
    return float_rows(node.inputs[0]) && axes[0] == 0 && (axes.rank() == 1 || spec(node.inputs[0]).shape[1] == 1);
  }
  bool rule_joins(const Node& node) const {
    const int64_t features = spec(node.first_output).shape[1];
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      if (has_rows(id)) return rows(id) && spec(id).shape[1] == features;
      const Shape& shape = spec(id).shape;
      return small(id) && (shape.count() == 1 || (shape.count() == features && shape.back() == features));
    });
  }

  const Trace& trace_;
  bool cuda_;
  int64_t rows_;
  std::vector<Where> where_;
  int products_ = 0;
};

// Values made inside that somebody outside reads, in order.
std::vector<ValueId> outputs_of(const Trace& trace, const RowGroup& group) {
  ValueMap<bool> read(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (group.where(n) != RowGroup::Where::inside)
      for (ValueId id : trace.nodes[n].inputs) read[id] = true;
  for (ValueId id : trace.outputs) read[id] = true;
  std::vector<ValueId> outputs;
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (group.where(n) == RowGroup::Where::inside && read[trace.nodes[n].first_output])
      outputs.push_back(trace.nodes[n].first_output);
  return outputs;
}

// The group without members whose results cannot leave it: truth values.
RowGroup find_group(const Trace& trace, int64_t rows) {
  std::vector<bool> banned(trace.nodes.size());
  for (;;) {
    RowGroup group(trace, rows, banned);
    bool again = false;
    for (ValueId id : outputs_of(trace, group))
      if (trace.spec(id).type != DType::f32) banned[trace.producer_index(id)] = again = true;
    if (!again) return group;
  }
}

// What does not depend on the group, the group, the rest. A group that is no kernel on a CUDA device stays as it is.
std::optional<Trace> with_group(const Trace& trace, const RowGroup& group) {
  std::vector<size_t> members;
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (group.where(n) == RowGroup::Where::inside) members.push_back(n);
  const auto outputs = outputs_of(trace, group);
  auto extracted = extract(trace, members, outputs);
  if (device_of(trace) > 0 && !cuda_rows_refusal(extracted.body).empty()) return std::nullopt;
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (group.where(n) == RowGroup::Where::before) rewrite.copy(trace.nodes[n]);
  Node node;
  node.op = &row_chain_op();
  add_whole(rewrite, std::move(node), std::move(extracted), members, outputs);
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (group.where(n) == RowGroup::Where::after) rewrite.copy(trace.nodes[n]);
  return rewrite.finish();
}

// What a row costs on the CPU, in counts of the nodes of a group.
struct RowWork {
  int64_t terms = 0, padded = 0;  // of products, and with the columns that kernels of their own would add
  int64_t ruled = 0;              // numbers that rules make
  int64_t outer = 0;              // numbers that are read or written by the chain
  int64_t inner = 0;              // numbers that kernels apart would write and read
};

class RowCounter {
 public:
  RowCounter(const Trace& trace, const RowGroup& group, int64_t rows)
      : trace_(trace), group_(group), rows_(rows), seen_(trace) {
    for (size_t n = 0; n < trace.nodes.size(); ++n)
      if (group.where(n) == RowGroup::Where::inside) add(trace.nodes[n]);
    for (ValueId id : outputs_of(trace, group)) work_.outer += features(id);
  }
  const RowWork& work() const { return work_; }

 private:
  int64_t features(ValueId id) const {
    const Shape& shape = trace_.spec(id).shape;
    return shape.rank() == 2 && shape[0] == rows_ ? shape[1] : 0;
  }
  bool made_inside(ValueId id) const {
    const size_t made = trace_.producer_index(id);
    return made != kNoNode && group_.where(made) == RowGroup::Where::inside;
  }
  void add(const Node& node) {
    for (ValueId id : node.inputs)
      if (!made_inside(id) && !seen_[id]) seen_[id] = true, work_.outer += features(id);
    if (node.op->rule) work_.ruled += features(node.first_output);
    if (!node.op->matrix_product) return;
    const int64_t depth = trace_.spec(node.inputs[0]).shape[1], width = trace_.spec(node.first_output).shape[1];
    const int64_t filled = tuning::kFilledColumns;
    work_.terms += depth * width;
    work_.padded += depth * (width == 1 ? filled / 2 : (width + filled - 1) / filled * filled);
    work_.inner += 2 * features(node.first_output);
  }

  const Trace& trace_;
  const RowGroup& group_;
  int64_t rows_;
  ValueMap<bool> seen_;
  RowWork work_;
};

// A chain computes 4,096 rows side by side on a thread, whether they are there or not.
bool pays(const Trace& trace, const RowGroup& group, int64_t rows, const PlanOptions& options) {
  const int64_t piece = row_chain::kBlock * row_chain::kLanes, pieces = (rows + piece - 1) / piece;
  const int64_t rounds = (pieces + options.threads - 1) / options.threads;
  const auto number = [](int64_t count) { return static_cast<double>(count); };
  const double used = number(rows) / number(rounds * options.threads * piece);
  const RowWork work = RowCounter(trace, group, rows).work();
  const Tuning::Rows& cost = options.tuning.rows;
  const bool cached = rows * work.inner * static_cast<int64_t>(sizeof(float)) <= cost.cache_bytes;
  const double rules = cost.rule * number(work.ruled);
  const double chain = (cost.term * number(work.terms) + cost.outer * number(work.outer) + rules) / used;
  return chain <=
         cost.padded_term * number(work.padded) + rules + (cached ? cost.cached : cost.uncached) * number(work.inner);
}

Trace fuse_rows(Trace trace, const PlanOptions& options) {
  const bool cuda = device_of(trace) > 0;
  std::vector<int64_t> tried;
  for (const auto& node : trace.nodes) {
    if (!node.op->matrix_product || node.body) continue;
    const Shape& shape = trace.spec(node.first_output).shape;
    const int64_t rows = shape[0];
    if (shape.rank() != 2 || rows < 1 || std::find(tried.begin(), tried.end(), rows) != tried.end()) continue;
    tried.push_back(rows);
    const RowGroup group = find_group(trace, rows);
    if (group.products() < options.tuning.chain_products) continue;
    if (!cuda && !pays(trace, group, rows, options)) continue;
    // What comes after the group may hold another one.
    if (auto fused = with_group(trace, group)) return fuse_rows(std::move(*fused), options);
  }
  return trace;
}

}  // namespace

Pass fuse_rows_pass() {
  return {
      .name = "fuse_rows", .purpose = "narrow layers over many rows become one kernel", .run = fuse_rows, .cuda = true};
}

}  // namespace retrace
