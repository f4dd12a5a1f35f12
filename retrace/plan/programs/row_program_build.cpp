// From a body to the steps of a chain of rows.

#include <algorithm>

#include "retrace/plan/layout/arena.h"
#include "retrace/plan/programs/row_kernels.h"
#include "retrace/plan/programs/row_program.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

using namespace row_chain;

}  // namespace

const Op& row_chain_op() {
  static const Op op{.name = "row_chain", .inputs = -1, .infer = infer_by_body};
  return op;
}

// What each value and each node of a body is in a chain of rows.
struct RowProgram::Roles {
  struct Value {
    int64_t features = 0;           // 0: no rows
    int64_t first = -1, last = -1;  // steps
    size_t reader = 0;              // the last node that reads it
    int reads = 0;
    bool single = false;  // one feature at a time: only rules of the step that makes it read it
    bool kept = false;    // an output
    size_t block = 0;
  };
  static constexpr int64_t kNone = -1;
  RowProgram& program;
  const Trace& body;
  ValueMap<ValueId> root;        // views are what they show
  ValueMap<Value> values;        // per root
  std::vector<int64_t> step_of;  // per node
  // What a product's kernel does to it beside, per node.
  struct After {
    ValueId bias = kNoValue;
    RowDense::After kind = RowDense::After::nothing;
    ValueId mask = kNoValue, bound = kNoValue, otherwise = kNoValue;
  };
  std::vector<After> after;

  Roles(RowProgram& program, const Trace& body) : program(program), body(body), root(body), values(body) {
    find_rows();
    find_steps();
  }

  const TensorSpec& spec(ValueId id) const { return body.spec(id); }
  Value& value(ValueId id) { return values[root[id]]; }
  bool is_rows(ValueId id) const { return spec(id).shape.rank() == 2 && spec(id).shape[0] == program.rows_; }

  void find_rows() {
    for (const auto& each : body.values)
      if (each.shape.rank() == 2) program.rows_ = std::max(program.rows_, each.shape[0]);
    step_of.assign(body.nodes.size(), 0);
    const TraceIndex index(body);
    for (ValueId id{0}; id < static_cast<ValueId>(body.values.size()); ++id) {
      root[id] = index.root(id);
      if (is_rows(id)) values[id].features = spec(id).shape[1];
    }
    for (const auto& node : body.nodes)
      if (node.op->view) step_of[number(node)] = kNone;
    for (const auto& node : body.nodes)
      for (ValueId id : node.inputs) value(id).reads += !node.op->view;
    for (ValueId id : body.outputs) value(id).kept = true;
    after.resize(body.nodes.size());
    for (const auto& node : body.nodes) take_into_product(node);
  }

  size_t number(const Node& node) const { return static_cast<size_t>(&node - body.nodes.data()); }
  // The node that makes a value, through views and what products have taken in; kNoNode for an input.
  size_t maker(ValueId id) const { return body.producer_index(root[id]); }
  // The product that makes these rows for nobody but one node, and can take it in.
  size_t product_for_one(ValueId id) {
    const size_t p = maker(id);
    const bool whole = p != kNoNode && is_rows(id) && kind_of(body.nodes[p]) == Step::Kind::dense &&
                       value(id).reads == 1 && !value(id).kept && after[p].kind == RowDense::After::nothing;
    return whole ? p : kNoNode;
  }

  // Bias, relu and relu's mask are computed while the product is stored, and take its place.
  void take_into_product(const Node& node) {
    if (node.op->formula == Formula::addition) return take_bias(node);
    if (node.op->formula == Formula::positive_part) {
      const size_t p = product_for_one(node.inputs[0]);
      if (p == kNoNode) return;
      after[p].kind = RowDense::After::relu;
      return take(node, node.inputs[0]);
    }
    if (node.op->formula == Formula::choice) take_mask(node);
  }

  // A number for each feature.
  void take_bias(const Node& node) {
    const ValueId product = node.inputs[0], bias = node.inputs[1];
    const size_t p = product_for_one(product);
    if (p == kNoNode || is_rows(bias) || after[p].bias != kNoValue ||
        spec(bias).shape.count() != value(product).features)
      return;
    after[p].bias = bias;
    take(node, product);
  }
  // where(greater(mask, number), product, number), with rows as mask that exist when the product is made.
  void take_mask(const Node& node) {
    const ValueId product = node.inputs[1], otherwise = node.inputs[2];
    const size_t p = product_for_one(product), c = maker(node.inputs[0]);
    if (p == kNoNode || c == kNoNode || !is_number(otherwise)) return;
    if (value(node.inputs[0]).reads != 1 || value(node.inputs[0]).kept) return;
    const Node& compare = body.nodes[c];
    if (compare.op->formula != Formula::greater) return;
    const ValueId mask = compare.inputs[0], bound = compare.inputs[1];
    const bool exists = maker(mask) == kNoNode || maker(mask) < p;
    const bool fits = is_rows(mask) && value(mask).features == value(product).features && exists;
    if (!fits || !is_number(bound)) return;
    after[p] = {after[p].bias, RowDense::After::mask, mask, bound, otherwise};
    step_of[c] = kNone;
    take(node, product);
  }
  bool is_number(ValueId id) const { return !is_rows(id) && spec(id).shape.count() == 1; }

  void take(const Node& node, ValueId product) {
    const ValueId made = node.first_output;
    value(product).kept = value(made).kept;
    value(product).reads = value(made).reads;
    step_of[number(node)] = kNone;
    const ValueId to = root[product];
    for (size_t v = 0; v < body.values.size(); ++v)
      if (ValueId& each = root[static_cast<ValueId>(v)]; each == made) each = to;
  }

  static Step::Kind kind_of(const Node& node) {
    if (node.op->rule) return Step::Kind::rules;
    const auto product = node.op->matrix_product;
    return product && !product(node.attributes).transpose_a ? Step::Kind::dense : Step::Kind::sum;
  }

  // Rules of as many features in a row are one step. Values live from the step that makes them to the last that reads.
  void find_steps() {
    for (size_t n = 0; n < body.nodes.size(); ++n) {
      const Node& node = body.nodes[n];
      if (step_of[n] == kNone) continue;
      const Step::Kind kind = kind_of(node);
      const int64_t features = kind == Step::Kind::rules ? value(node.first_output).features : 0;
      const bool joins = kind == Step::Kind::rules && !program.steps_.empty() && program.steps_.back().kind == kind &&
                         program.steps_.back().features == features;
      if (!joins) program.steps_.push_back({kind, 0, 0, features});
      step_of[n] = static_cast<int64_t>(program.steps_.size()) - 1;
      const auto reads = [&](ValueId id) { value(id).last = step_of[n], value(id).reader = n; };
      std::for_each(node.inputs.begin(), node.inputs.end(), reads);
      if (after[n].mask != kNoValue) reads(after[n].mask);
      value(node.first_output).first = value(node.first_output).last = step_of[n];
    }
    for (ValueId id : body.inputs) value(id).first = 0;
    for (ValueId id : body.outputs) value(id).last = static_cast<int64_t>(program.steps_.size());
  }
};

// Puts the values in a thread's scratch, and writes the steps.
struct RowProgram::Builder : Roles {
  std::vector<ArenaBlock> blocks;

  using Roles::Roles;

  int input_of(ValueId id) const {
    const auto at = std::find(body.inputs.begin(), body.inputs.end(), id);
    ensure(at != body.inputs.end(), "what is small enters a chain of rows from outside");
    return static_cast<int>(at - body.inputs.begin());
  }

  void place_rows() {
    for (ValueId id : body.inputs)
      if (is_rows(id)) place(value(id));
    for (size_t n = 0; n < body.nodes.size(); ++n)
      if (const ValueId made = body.nodes[n].first_output; step_of[n] != kNone && is_rows(made)) place(n, value(made));
    program.row_floats_ = static_cast<int64_t>(place_blocks(blocks, true) / sizeof(float));
  }
  void place(Value& made) {
    made.block = blocks.size();
    blocks.push_back({static_cast<size_t>((made.single ? 1 : made.features) * kChunk) * sizeof(float),
                      static_cast<size_t>(made.first), static_cast<size_t>(std::max(made.first, made.last)), 0});
    program.widest_ = std::max(program.widest_, made.features);
  }
  void place(size_t n, Value& made) {
    const Node& node = body.nodes[n];
    made.single = node.op->rule && !made.kept && made.first == made.last;
    if (node.op->rule && !made.single)
      for (ValueId id : node.inputs)
        if (const Value& dies = value(id); is_rows(id) && dies.reader == n && !dies.single && !dies.kept) {
          made.block = dies.block;  // rules read an element before they write it
          blocks[made.block].last = static_cast<size_t>(made.last);
          return;
        }
    place(made);
  }

  int64_t offset(ValueId id) { return static_cast<int64_t>(blocks[value(id).block].offset / sizeof(float)); }

  int64_t add_pattern(ValueId id, int64_t length, bool bias = false) {
    const int64_t numbers = spec(id).shape.count(), at = program.pattern_floats_;
    program.patterns_.push_back({input_of(id), bias, numbers, length, at});
    program.pattern_floats_ += numbers * length;
    return at;
  }

  void add_transfers() {
    for (size_t i = 0; i < body.inputs.size(); ++i)
      if (const ValueId id = body.inputs[i]; is_rows(id) && value(id).last >= 0)
        program.loads_.push_back({static_cast<int>(i), value(id).features, offset(id)});
    for (size_t i = 0; i < body.outputs.size(); ++i)
      if (const ValueId id = body.outputs[i]; is_rows(id))
        program.stores_.push_back({static_cast<int>(i), value(id).features, offset(id)});
  }

  void add_dense(size_t n) {
    const Node& node = body.nodes[n];
    const Shape& weights = spec(node.inputs[1]).shape;
    const bool transposed = node.op->matrix_product(node.attributes).transpose_b;
    const After& then = after[n];
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
    if (is_rows(id)) return {offset(id), value(id).single ? 0 : kChunk};
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
            value(node.inputs[0]).features,
            0,
            0,
            program.sum_floats_,
            program.record_floats_};
    int64_t memory = 0;
    if (node.op->matrix_product) {
      sum.b = offset(node.inputs[1]);
      sum.b_features = value(node.inputs[1]).features;
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
    Step& step = program.steps_[static_cast<size_t>(step_of[n])];
    const size_t made = step.kind == Step::Kind::dense   ? program.dense_.size()
                        : step.kind == Step::Kind::rules ? program.rules_.size()
                                                         : program.sums_.size();
    if (step.count++ == 0) step.first = static_cast<int64_t>(made);
    if (step.kind == Step::Kind::dense) return add_dense(n);
    if (step.kind == Step::Kind::rules) return add_rule(node);
    add_sum(node);
  }
};

RowProgram::RowProgram(const Trace& body) {
  Builder builder(*this, body);
  builder.place_rows();
  builder.add_transfers();
  for (size_t n = 0; n < body.nodes.size(); ++n)
    if (builder.step_of[n] != Builder::kNone) builder.add_step(n);
}

}  // namespace retrace
