// From a body to the steps of a chain of rows.

#include <algorithm>

#include "retrace/plan/programs/row_kernels.h"
#include "retrace/plan/programs/row_program.h"
#include "retrace/plan/programs/row_roles.h"
#include "retrace/plan/programs/tile_program.h"

namespace retrace {
namespace {

using namespace row_chain;

}  // namespace

const Op& row_chain_op() {
  static const Op op{.name = "row_chain", .inputs = -1, .infer = infer_by_body};
  return op;
}

// Puts the values in a thread's scratch, and writes the steps.
struct RowProgram::Builder {
  RowProgram& program;
  const Trace& body;
  RowRoles roles;

  Builder(RowProgram& program, const Trace& body) : program(program), body(body), roles(body) {
    program.rows_ = roles.rows();
    for (const RowRoles::Step& step : roles.steps()) program.steps_.push_back({step.kind, 0, 0, step.features});
    const size_t feature = kChunk * sizeof(float);
    program.row_floats_ = static_cast<int64_t>(roles.place_rows(feature, feature) / sizeof(float));
    for (const Node& node : body.nodes) program.widest_ = std::max(program.widest_, features(node.first_output));
    for (ValueId id : body.inputs) program.widest_ = std::max(program.widest_, features(id));
  }

  const TensorSpec& spec(ValueId id) const { return body.spec(id); }
  bool is_rows(ValueId id) const { return roles.is_rows(id); }
  int64_t features(ValueId id) const { return roles.value(id).features; }
  int64_t offset(ValueId id) const { return static_cast<int64_t>(roles.offset(id) / sizeof(float)); }

  int input_of(ValueId id) const {
    const auto at = std::find(body.inputs.begin(), body.inputs.end(), id);
    ensure(at != body.inputs.end(), "what is small enters a chain of rows from outside");
    return static_cast<int>(at - body.inputs.begin());
  }

  int64_t add_pattern(ValueId id, int64_t length, bool bias = false) {
    const int64_t numbers = spec(id).shape.count(), at = program.pattern_floats_;
    program.patterns_.push_back({input_of(id), bias, numbers, length, at});
    program.pattern_floats_ += numbers * length;
    return at;
  }

  void add_transfers() {
    for (size_t i = 0; i < body.inputs.size(); ++i)
      if (const ValueId id = body.inputs[i]; is_rows(id) && roles.value(id).last >= 0)
        program.loads_.push_back({static_cast<int>(i), features(id), offset(id)});
    for (size_t i = 0; i < body.outputs.size(); ++i)
      if (const ValueId id = body.outputs[i]; is_rows(id))
        program.stores_.push_back({static_cast<int>(i), features(id), offset(id)});
  }

  void add_dense(size_t n) {
    const Node& node = body.nodes[n];
    const Shape& weights = spec(node.inputs[1]).shape;
    const bool transposed = node.op->matrix_product(node.attributes).transpose_b;
    const RowRoles::After& then = roles.after(n);
    const bool masked = then.mask != kNoValue;
    Dense dense{input_of(node.inputs[1]),
                weights[transposed ? 1 : 0],
                weights[transposed ? 0 : 1],
                transposed ? weights[1] : 1,
                transposed ? 1 : weights[1],
                offset(node.inputs[0]),
                offset(node.first_output),
                then.bias == kNoValue ? -1 : program.row_floats_ + add_pattern(then.bias, 1, true),
                then.kind,
                masked ? offset(then.mask) : 0,
                masked ? input_of(then.bound) : -1,
                masked ? input_of(then.otherwise) : -1};
    program.dense_.push_back(dense);
  }

  Operand operand(ValueId id) {
    if (is_rows(id)) return {offset(id), roles.value(id).single ? 0 : kChunk};
    return {program.row_floats_ + add_pattern(id, kChunk), spec(id).shape.count() == 1 ? 0 : kChunk};
  }

  void add_rule(const Node& node) {
    Rule rule{node.op->rule->tile.get(), node.op->rule->arity, {}, {}};
    for (size_t i = 0; i < node.inputs.size(); ++i) rule.in[i] = operand(node.inputs[i]);
    rule.out = operand(node.first_output);
    program.rules_.push_back(rule);
  }

  void add_sum(const Node& node) {
    const auto at = std::find(body.outputs.begin(), body.outputs.end(), node.first_output);
    ensure(at != body.outputs.end(), "a sum over rows leaves their chain");
    Sum sum{Sum::Kind::outer,
            static_cast<int>(at - body.outputs.begin()),
            offset(node.inputs[0]),
            0,
            features(node.inputs[0]),
            0,
            0,
            program.sum_floats_,
            program.record_floats_};
    int64_t memory = 0;
    if (node.op->matrix_product) {
      sum.b = offset(node.inputs[1]);
      sum.b_features = features(node.inputs[1]);
      sum.size = sum.a_features * sum.b_features;
      memory = sum.size * kLanes;
    } else if (node.attributes.list("axes").rank() == 1) {
      sum.kind = Sum::Kind::column;
      sum.size = sum.a_features;
      memory = sum.size * kLanes * (1 + kStripLevels);
    } else {
      sum.kind = Sum::Kind::row;
      sum.size = kStrip;
      memory = sum.size * kLanes;
    }
    program.sum_floats_ += memory;
    program.record_floats_ += sum.size;
    program.sums_.push_back(sum);
  }

  void add_step(size_t n) {
    const Node& node = body.nodes[n];
    Step& step = program.steps_[static_cast<size_t>(roles.step_of(n))];
    const size_t made = step.kind == RowRoles::Step::Kind::dense   ? program.dense_.size()
                        : step.kind == RowRoles::Step::Kind::rules ? program.rules_.size()
                                                                   : program.sums_.size();
    if (step.count++ == 0) step.first = static_cast<int64_t>(made);
    if (step.kind == RowRoles::Step::Kind::dense) return add_dense(n);
    if (step.kind == RowRoles::Step::Kind::rules) return add_rule(node);
    add_sum(node);
  }
};

RowProgram::RowProgram(const Trace& body) {
  Builder builder(*this, body);
  builder.add_transfers();
  for (size_t n = 0; n < body.nodes.size(); ++n)
    if (builder.roles.step_of(n) != RowRoles::kNone) builder.add_step(n);
}

}  // namespace retrace
