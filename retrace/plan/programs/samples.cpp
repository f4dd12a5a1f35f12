#include "retrace/plan/programs/samples.h"

#include <algorithm>

#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

const TensorSpec& spec_of(const Trace& trace, ValueId id) { return trace.spec(id); }

bool has_prologue(const Node& node) { return node.body && node.body->role == Body::Role::prologue; }

// Element for element with an array of that shape whose axis 0 are the samples.
bool lies_along(const Shape& shape, const Shape& whole, int64_t samples) {
  return shape.rank() == whole.rank() && shape.rank() >= 2 && shape[0] == samples && whole[0] == samples;
}

// The array that the pointwise work of a node goes along: the chain's, what its prologue makes, or the raw result.
const Shape& chain_shape(const Trace& trace, const Node& node) {
  return has_prologue(node) ? spec_of(node.body->trace, node.body->trace.outputs[0]).shape
                            : spec_of(trace, node.first_output).shape;
}

std::vector<TensorSpec> own_specs(const Trace& trace, const Node& node) {
  if (has_prologue(node)) return {spec_of(node.body->trace, node.body->trace.outputs[0])};
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < node.own_inputs(); ++i) specs.push_back(spec_of(trace, node.inputs[i]));
  return specs;
}

bool outputs_have(const Trace& trace, const Node& node, int64_t samples) {
  for (int i = 0; i < node.output_count; ++i) {
    const Shape& shape = spec_of(trace, node.first_output + i).shape;
    if (shape.rank() < 2 || shape[0] != samples) return false;
  }
  return true;
}

// A stack of products, one for each sample.
bool multiplies_stacks(const Trace& trace, const Node& node, int64_t samples) {
  if (!node.op->matrix_product) return false;
  for (size_t i = 0; i < node.own_inputs(); ++i) {
    const Shape& shape = spec_of(trace, node.inputs[i]).shape;
    if (shape.rank() < 3 || shape[0] != samples) return false;
  }
  return true;
}

// Ops that go by samples in loops, and that no chain of samples takes: rows of products, and what is joined along
// another axis.
bool multiplies_rows(const Node& node) {
  return node.op->matrix_product && !node.op->matrix_product(node.attributes).transpose_a;
}
bool joins_rows(const Node& node) { return node.op->joins && node.attributes.integer("axis") > 0; }
bool goes_by_rows(const Trace& trace, const Node& node, int64_t samples) {
  return joins_rows(node) || (multiplies_rows(node) && !multiplies_stacks(trace, node, samples));
}

bool cuts_input(const Trace& trace, const Node& node, size_t input, int64_t samples) {
  if (node.op->cut != 0) return (node.op->cut >> input & 1) != 0;
  if (multiplies_stacks(trace, node, samples)) return true;
  return joins_rows(node) || (multiplies_rows(node) && input == 0);
}

}  // namespace

const Op& sample_chain_op() {
  static const Op op{.name = "sample_chain", .inputs = -1, .attributes = {"samples", "slab"}, .infer = infer_by_body};
  return op;
}

bool is_cut(const Trace& trace, const Node& node, size_t input, int64_t samples) {
  if (!is_tile_chain(trace, node) && input < node.own_inputs()) return cuts_input(trace, node, input, samples);
  return lies_along(spec_of(trace, node.inputs[input]).shape, chain_shape(trace, node), samples);
}

int64_t subtree_samples(const Trace& trace, const Node& node) {
  const auto specs = own_specs(trace, node);
  return node.op->subtree ? node.op->subtree({*node.op, node.attributes, specs, node.place}) : 0;
}

BySample by_sample(const Trace& trace, const Node& node, int64_t samples) {
  const bool chain = is_tile_chain(trace, node);
  if (!chain && node.op->cut == 0 && !multiplies_stacks(trace, node, samples)) return BySample::no;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (is_cut(trace, node, i, samples)) {
      const Shape& shape = spec_of(trace, node.inputs[i]).shape;
      if (shape.rank() < 2 || shape[0] != samples) return BySample::no;
    }
  if (!chain && goes_along_samples(*node.op, node.attributes)) {
    if (!node.op->subtree) return BySample::no;
    const auto made = own_specs(trace, node)[0].shape;
    const bool f32 = spec_of(trace, node.first_output).type == DType::f32;
    return f32 && made.rank() >= 2 && made[0] == samples && subtree_samples(trace, node) > 0 ? BySample::sum
                                                                                             : BySample::no;
  }
  return outputs_have(trace, node, samples) ? BySample::each : BySample::no;
}

ValueMap<bool> find_cut(const Trace& trace, int64_t samples) {
  ValueMap<bool> cut(trace);
  for (const auto& node : trace.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (is_cut(trace, node, i, samples)) cut[node.inputs[i]] = true;
    if (by_sample(trace, node, samples) == BySample::each || goes_by_rows(trace, node, samples))
      for (int i = 0; i < node.output_count; ++i) cut[node.first_output + i] = true;
  }
  return cut;
}

bool goes_by_samples(const Trace& trace, int64_t samples) {
  const auto cut = find_cut(trace, samples);
  const auto is_matrix = [&](ValueId id) { return trace.spec(id).shape.rank() == 2; };
  const auto each = [&](const Node& node) {
    if (node.op->constant) return !cut[node.first_output];
    if (goes_by_rows(trace, node, samples)
            ? !outputs_have(trace, node, samples) || (multiplies_rows(node) && !is_matrix(node.inputs[0]))
            : by_sample(trace, node, samples) != BySample::each)
      return false;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (is_cut(trace, node, i, samples) != cut[node.inputs[i]]) return false;
    return true;
  };
  return std::all_of(trace.nodes.begin(), trace.nodes.end(), each) &&
         std::all_of(trace.outputs.begin(), trace.outputs.end(), [&](ValueId id) { return cut[id]; });
}

Trace with_samples(const Trace& trace, int64_t samples, int64_t count) {
  Trace made = trace;
  const auto cut = find_cut(trace, samples);
  for (size_t i = 0; i < made.values.size(); ++i)
    if (cut[static_cast<ValueId>(i)]) made.values[i].shape[0] = count;
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    const Node& node = trace.nodes[n];
    if (!node.body) continue;
    Trace body = node.body->trace;
    for (auto& spec : body.values)
      if (lies_along(spec.shape, chain_shape(trace, node), samples)) spec.shape[0] = count;
    made.nodes[n].body = make_body(node.body->role, std::move(body), node.body->reductions);
  }
  return made;
}

}  // namespace retrace
