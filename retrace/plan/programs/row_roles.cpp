#include "retrace/plan/programs/row_roles.h"

#include <algorithm>

namespace retrace {

RowRoles::RowRoles(const Trace& body) : body_(body), root_(body), values_(body), after_(body.nodes.size()) {
  find_rows();
  for (const auto& node : body.nodes) take_into_product(node);
  find_steps();
}

// A sum over rows may happen to have as many.
bool RowRoles::is_rows(ValueId id) const {
  const Node* const made = body_.producer(root_[id]);
  const bool sum = made && !made->op->view && kind_of(*made) == Step::Kind::sum;
  return !sum && spec(id).shape.rank() == 2 && spec(id).shape[0] == rows_;
}

// A product is there, and its first argument is rows.
void RowRoles::find_rows() {
  for (const auto& node : body_.nodes)
    if (node.op->matrix_product) rows_ = spec(node.inputs[0]).shape[0];
  step_of_.assign(body_.nodes.size(), 0);
  root_ = find_roots(body_);
  for (ValueId id{0}; id < static_cast<ValueId>(body_.values.size()); ++id)
    if (is_rows(id)) values_[id].features = spec(id).shape[1];
  for (const auto& node : body_.nodes) {
    if (node.op->view) step_of_[number(node)] = kNone;
    for (ValueId id : node.inputs) value(id).reads += !node.op->view;
  }
  for (ValueId id : body_.outputs) value(id).kept = true;
}

// The product that makes these rows for nobody but one node, and can take it in; or kNoNode.
size_t RowRoles::product_for_one(ValueId id) const {
  const size_t p = maker(id);
  const bool whole = p != kNoNode && is_rows(id) && kind_of(body_.nodes[p]) == Step::Kind::dense &&
                     value(id).reads == 1 && !value(id).kept && after_[p].kind == After::Kind::nothing;
  return whole ? p : kNoNode;
}

// Bias, relu and relu's mask are computed while the product is stored, and take its place.
void RowRoles::take_into_product(const Node& node) {
  if (node.op->formula == Formula::addition) return take_bias(node);
  if (node.op->formula == Formula::positive_part) {
    const size_t p = product_for_one(node.inputs[0]);
    if (p == kNoNode) return;
    after_[p].kind = After::Kind::relu;
    return take(node, node.inputs[0]);
  }
  if (node.op->formula == Formula::choice) take_mask(node);
}

// A number for each feature.
void RowRoles::take_bias(const Node& node) {
  const ValueId product = node.inputs[0], bias = node.inputs[1];
  const size_t p = product_for_one(product);
  if (p == kNoNode || is_rows(bias) || after_[p].bias != kNoValue ||
      spec(bias).shape.count() != value(product).features)
    return;
  after_[p].bias = bias;
  take(node, product);
}

// where(greater(mask, number), product, number), with rows as mask that exist when the product is made.
void RowRoles::take_mask(const Node& node) {
  const ValueId product = node.inputs[1], otherwise = node.inputs[2];
  const size_t p = product_for_one(product), c = maker(node.inputs[0]);
  if (p == kNoNode || c == kNoNode || !is_number(otherwise)) return;
  if (value(node.inputs[0]).reads != 1 || value(node.inputs[0]).kept) return;
  const Node& compare = body_.nodes[c];
  if (compare.op->formula != Formula::greater) return;
  const ValueId mask = compare.inputs[0], bound = compare.inputs[1];
  const bool exists = maker(mask) == kNoNode || maker(mask) < p;
  const bool fits = is_rows(mask) && value(mask).features == value(product).features && exists;
  if (!fits || !is_number(bound)) return;
  after_[p] = {after_[p].bias, After::Kind::mask, mask, bound, otherwise};
  step_of_[c] = kNone;
  take(node, product);
}

void RowRoles::take(const Node& node, ValueId product) {
  const ValueId made = node.first_output;
  value(product).kept = value(made).kept;
  value(product).reads = value(made).reads;
  step_of_[number(node)] = kNone;
  const ValueId to = root_[product];
  for (size_t v = 0; v < body_.values.size(); ++v)
    if (ValueId& each = root_[static_cast<ValueId>(v)]; each == made) each = to;
}

RowRoles::Step::Kind RowRoles::kind_of(const Node& node) {
  if (node.op->rule) return Step::Kind::rules;
  const auto product = node.op->matrix_product;
  return product && !product(node.attributes).transpose_a ? Step::Kind::dense : Step::Kind::sum;
}

// Rules of as many features in a row are one step. Values live from the step that makes them to the last that reads.
void RowRoles::find_steps() {
  for (size_t n = 0; n < body_.nodes.size(); ++n) {
    const Node& node = body_.nodes[n];
    if (step_of_[n] == kNone) continue;
    const Step::Kind kind = kind_of(node);
    const int64_t features = kind == Step::Kind::rules ? value(node.first_output).features : 0;
    const bool joins = kind == Step::Kind::rules && !steps_.empty() && steps_.back().kind == kind &&
                       steps_.back().features == features;
    if (!joins) steps_.push_back({kind, features});
    step_of_[n] = static_cast<int64_t>(steps_.size()) - 1;
    const auto reads = [&](ValueId id) { value(id).last = step_of_[n], value(id).reader = n; };
    std::for_each(node.inputs.begin(), node.inputs.end(), reads);
    if (after_[n].mask != kNoValue) reads(after_[n].mask);
    value(node.first_output).first = value(node.first_output).last = step_of_[n];
  }
  for (ValueId id : body_.inputs) value(id).first = 0;
  for (ValueId id : body_.outputs) value(id).last = static_cast<int64_t>(steps_.size());
}

size_t RowRoles::place_rows(size_t bytes, size_t bytes_of_single) {
  for (ValueId id : body_.inputs)
    if (is_rows(id)) place(value(id), bytes * static_cast<size_t>(value(id).features));
  for (size_t n = 0; n < body_.nodes.size(); ++n)
    if (const ValueId made = body_.nodes[n].first_output; step_of_[n] != kNone && is_rows(made))
      place(n, value(made), bytes, bytes_of_single);
  return place_blocks(blocks_, true);
}

void RowRoles::place(Value& made, size_t bytes) {
  made.block = blocks_.size();
  blocks_.push_back({bytes, static_cast<size_t>(made.first), static_cast<size_t>(std::max(made.first, made.last)), 0});
}

void RowRoles::place(size_t n, Value& made, size_t bytes, size_t bytes_of_single) {
  const Node& node = body_.nodes[n];
  made.single = node.op->rule && !made.kept && made.first == made.last;
  if (node.op->rule && !made.single)
    for (ValueId id : node.inputs)
      if (const Value& dies = value(id); is_rows(id) && dies.reader == n && !dies.single && !dies.kept) {
        made.block = dies.block;  // rules read an element before they write it
        blocks_[made.block].last = static_cast<size_t>(made.last);
        return;
      }
  place(made, made.single ? bytes_of_single : bytes * static_cast<size_t>(made.features));
}

}  // namespace retrace
