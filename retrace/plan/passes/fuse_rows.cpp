#include <algorithm>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/programs/row_program.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

constexpr int kLeastProducts = 2;

// The nodes that a chain over `rows` rows can take in: each reads rows of the chain or what does not depend on it.
class RowGroup {
 public:
  RowGroup(const Trace& trace, int64_t rows, const std::vector<bool>& banned)
      : trace_(trace), rows_(rows), where_(trace.nodes.size(), Where::before) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      const Node& node = trace.nodes[n];
      if (!banned[n] && joins(node)) {
        where_[n] = Where::inside;
        products_ += node.op->name == "matmul";
      } else if (std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return !free(id); })) {
        where_[n] = Where::after;
      }
    }
  }

  enum class Where { before, inside, after };
  Where where(size_t node) const { return where_[node]; }
  int products() const { return products_; }

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.values[static_cast<size_t>(id)]; }
  Where where_made(ValueId id) const {
    const int32_t p = trace_.producers[static_cast<size_t>(id)];
    return p < 0 ? Where::before : where_[static_cast<size_t>(p)];
  }
  bool free(ValueId id) const { return where_made(id) == Where::before; }

  static bool narrow(int64_t features) { return features >= 1 && features <= kMostChainFeatures; }
  bool has_rows(ValueId id) const {
    const Shape& shape = spec(id).shape;
    return shape.rank() == 2 && shape[0] == rows_ && narrow(shape[1]);
  }
  bool rows(ValueId id) const {
    if (!has_rows(id) || where_made(id) == Where::after) return false;
    return spec(id).type == DType::f32 || (spec(id).type == DType::boolean && !free(id));
  }
  bool float_rows(ValueId id) const { return rows(id) && spec(id).type == DType::f32; }
  bool small(ValueId id) const { return free(id) && spec(id).type == DType::f32 && !has_rows(id); }

  bool joins(const Node& node) const {
    if (node.body) return false;
    if (node.op->name == "matmul") return product_joins(node);
    if (node.op->name == "sum") return sum_joins(node);
    if (node.op->view)
      return rows(node.inputs[0]) && !free(node.inputs[0]) &&
             spec(node.first_output).shape == spec(node.inputs[0]).shape;
    return node.op->rule && can_tile(trace_, node) && has_rows(node.first_output) && rule_joins(node);
  }
  bool product_joins(const Node& node) const {
    const ValueId a = node.inputs[0], b = node.inputs[1];
    if (node.attributes.integer("transpose_a"))
      return !node.attributes.integer("transpose_b") && float_rows(a) && float_rows(b);
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
  int64_t rows_;
  std::vector<Where> where_;
  int products_ = 0;
};

// Values made inside that somebody outside reads, in order.
std::vector<ValueId> outputs_of(const Trace& trace, const RowGroup& group) {
  std::vector<bool> read(trace.values.size());
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (group.where(n) != RowGroup::Where::inside)
      for (ValueId id : trace.nodes[n].inputs) read[static_cast<size_t>(id)] = true;
  for (ValueId id : trace.outputs) read[static_cast<size_t>(id)] = true;
  std::vector<ValueId> outputs;
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (group.where(n) == RowGroup::Where::inside && read[static_cast<size_t>(trace.nodes[n].first_output)])
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
      if (trace.values[static_cast<size_t>(id)].type != DType::f32)
        banned[static_cast<size_t>(trace.producers[static_cast<size_t>(id)])] = again = true;
    if (!again) return group;
  }
}

// What does not depend on the group, the group, the rest.
Trace with_group(const Trace& trace, const RowGroup& group) {
  Rewriter rewrite(trace);
  std::vector<size_t> members;
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (group.where(n) == RowGroup::Where::before) rewrite.copy(trace.nodes[n]);
    if (group.where(n) == RowGroup::Where::inside) members.push_back(n);
  }
  const auto outputs = outputs_of(trace, group);
  auto extracted = extract(trace, members, outputs);
  Node node;
  node.op = &row_chain_op();
  node.place = trace.nodes[members.back()].place;
  for (ValueId id : extracted.inputs) node.inputs.push_back(rewrite(id));
  std::vector<TensorSpec> specs;
  for (ValueId id : outputs) specs.push_back(trace.values[static_cast<size_t>(id)]);
  node.body = make_body(Body::Role::whole, std::move(extracted.body));
  node.apart = extracted.apart;
  const ValueId made = rewrite.to().add_node(std::move(node), specs);
  for (size_t i = 0; i < outputs.size(); ++i) rewrite.replace(outputs[i], made + static_cast<ValueId>(i));
  for (size_t n = 0; n < trace.nodes.size(); ++n)
    if (group.where(n) == RowGroup::Where::after) rewrite.copy(trace.nodes[n]);
  return rewrite.finish();
}

}  // namespace

Trace fuse_rows(Trace trace) {
  std::vector<int64_t> tried;
  for (const auto& node : trace.nodes) {
    if (node.op->name != "matmul" || node.body) continue;
    const Shape& shape = trace.values[static_cast<size_t>(node.first_output)].shape;
    const int64_t rows = shape[0];
    if (shape.rank() != 2 || rows < kLeastChainRows || std::find(tried.begin(), tried.end(), rows) != tried.end())
      continue;
    tried.push_back(rows);
    const RowGroup group = find_group(trace, rows);
    // What comes after the group may hold another one.
    if (group.products() >= kLeastProducts) return fuse_rows(with_group(trace, group));
  }
  return trace;
}

}  // namespace retrace
