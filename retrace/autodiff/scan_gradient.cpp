// The gradient of a loop: a loop in the other direction. Its carries are the cotangents of the float carries and, for
// each input that is the same in every step, the sum of its gradient so far. Where that gradient is a product of two
// matrices of a step, the sum over all steps is one product of both matrices of all steps, behind the loop. What
// contractions made in each step (or a chain that alone reads it) is not computed again: the loop is recorded once more
// with these as results, and the pass merge_loops puts it in the place of the first one.

#include <algorithm>

#include "retrace/autodiff/cotangents.h"
#include "retrace/autodiff/gradient.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/loop.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {
namespace {

using Indices = std::vector<size_t>;

std::ptrdiff_t offset(size_t i) { return static_cast<std::ptrdiff_t>(i); }

Tensor zeros(const TensorSpec& spec, Place place) {
  return broadcast(constant(0, spec.type), spec.shape, spec.labels.text(), place);
}

ValueId id_of(const Tensor& recorded) { return ValueId{recorded.value()->id}; }

// What the gradient of a loop consists of. Indices are those of inputs of the loop's body.
struct Form {
  explicit Form(const GradientCall& call) : call(call), loop(call.attributes), body(*loop.body) {
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const bool is_carry = i < loop.carries, is_float = retrace::is_float(spec(i).type);
      if (is_carry && is_float) carries.push_back(i);
      if (!is_carry && is_float && call.needed[i]) (i < first_other() ? sequences : sums).push_back(i);
    }
    for (size_t k = loop.carries; k < call.outputs.size(); ++k)
      if (call.cotangents[k].defined()) given.push_back(k);
  }

  const TensorSpec& spec(size_t input) const { return body.spec(body.inputs[input]); }
  size_t first_other() const { return loop.carries + loop.sequences; }
  size_t first_history() const { return loop.carries + loop.results(); }
  // Of one step, of a result or of a carry before it.
  const TensorSpec& cotangent_spec(size_t output) const {
    return output < first_history() ? body.spec(body.outputs[output]) : spec(output - first_history());
  }

  const GradientCall& call;
  const Loop loop;
  const Trace& body;
  Indices carries, sums, products, sequences;  // inputs with a gradient, by how it is made
  Indices given;                               // outputs behind the carries that have a cotangent
  std::vector<ValueId> saved;                  // values of the body that the loop keeps of each step
};

// One step backwards, recorded in the current recording, whose inputs are
//   cotangents of carries, sums, carries, elements, cotangents of what is given, what is saved, others.
class StepBack {
 public:
  explicit StepBack(const Form& form) : form_(form) {
    std::vector<Tensor> cotangents, given, wanted;
    for (const size_t i : form.carries) cotangents.push_back(input(form.spec(i)));
    for (const size_t i : form.sums) sums.push_back(input(form.spec(i)));
    for (size_t i = 0; i < form.first_other(); ++i) arguments.push_back(input(form.spec(i)));
    for (const size_t k : form.given) given.push_back(input(form.cotangent_spec(k)));
    for (const ValueId id : form.saved) saved.push_back(input(form.body.spec(id)));
    for (size_t i = form.first_other(); i < form.body.inputs.size(); ++i) arguments.push_back(input(form.spec(i)));
    const auto made = current_recording()->splice(form.body, arguments, {}, place());
    std::vector<Tensor> of_outputs(made.size());
    for (size_t k = 0; k < form.carries.size(); ++k) of_outputs[form.carries[k]] = cotangents[k];
    for (size_t k = 0; k < given.size(); ++k)
      if (form.given[k] < form.first_history()) of_outputs[form.given[k]] = given[k];
    for (const Indices* group : {&form.carries, &form.sums, &form.products, &form.sequences})
      for (const size_t i : *group) wanted.push_back(arguments[i]);
    found = vjp(made, of_outputs, wanted, place());
    for (size_t k = 0; k < given.size(); ++k)
      if (form.given[k] >= form.first_history())
        add_to(found[carry_at(form.given[k] - form.first_history())], given[k]);
  }

  Place place() const { return form_.call.place; }
  void add_to(Tensor& sum, const Tensor& more) const { sum = sum.defined() ? add(sum, more, place()) : more; }

  std::vector<Tensor> arguments, sums, saved;
  std::vector<Tensor> found;  // gradients of carries, sums, products and sequences; undefined: none

 private:
  static Tensor input(const TensorSpec& spec) {
    return current_recording()->add_input({spec.type, spec.shape, spec.labels, {}, spec.device});
  }
  size_t carry_at(size_t input) const {
    return static_cast<size_t>(std::find(form_.carries.begin(), form_.carries.end(), input) - form_.carries.begin());
  }

  const Form& form_;
};

// The node y = a^T b over rows of both, which makes y in the current recording, or null.
const Node* product_over_rows(const Tensor& y) {
  if (!y.defined() || y.rank() != 2) return nullptr;
  const Node* const node = current_recording()->trace().producer(id_of(y));
  if (!node || !node->op->matrix_product) return nullptr;
  const MatrixProduct product = node->op->matrix_product(node->attributes);
  return product.transpose_a && !product.transpose_b ? node : nullptr;
}

// -- what is saved ----------------------------------------------------------------------------------------------

// Of the trace of a step backwards, whose first nodes are the body's: nodes that are needed for what is read, and by
// how many each value is read, if the results of some nodes are saved.
struct Needs {
  Needs(const Trace& trace, const std::vector<ValueId>& read, const std::vector<bool>& saved)
      : nodes(trace.nodes.size()), readers(trace.values.size()) {
    for (ValueId id : read) ++readers[static_cast<size_t>(id)];
    for (size_t n = trace.nodes.size(); n-- > 0;) {
      const Node& node = trace.nodes[n];
      for (int i = 0; i < node.output_count; ++i)
        nodes[n] = nodes[n] || readers[static_cast<size_t>(node.first_output + i)] > 0;
      if (nodes[n] && !saved[n])
        for (ValueId id : node.inputs) ++readers[static_cast<size_t>(id)];
    }
  }
  std::vector<bool> nodes;
  std::vector<int> readers;
};

// The values of the body that are saved so that what is read can be made: results of contractions and loops, or of the
// pointwise node that alone reads one, which has as many bytes and spares what makes it.
std::vector<ValueId> values_to_save(const Form& form, const Trace& trace, const std::vector<ValueId>& read) {
  const size_t nodes = form.body.nodes.size();
  std::vector<bool> saved(trace.nodes.size());
  for (size_t n = 0; n < nodes; ++n) saved[n] = trace.nodes[n].op->contraction || trace.nodes[n].op->loop;
  const Needs all(trace, read, saved);
  for (size_t n = 0; n < nodes; ++n)
    for (ValueId id : trace.nodes[n].inputs) {
      const size_t from = trace.producer_index(id);
      if (trace.nodes[n].op->rule && all.nodes[n] && from != kNoNode && saved[from] &&
          all.readers[static_cast<size_t>(id)] == 1 &&
          trace.spec(id).bytes() == trace.spec(trace.nodes[n].first_output).bytes())
        saved[n] = true;
    }
  const Needs left(trace, read, saved);
  std::vector<ValueId> values;
  for (size_t n = nodes; n-- > 0;)
    for (int i = trace.nodes[n].output_count; saved[n] && i-- > 0;)
      if (left.readers[static_cast<size_t>(trace.nodes[n].first_output + i)] > 0)
        values.push_back(form.body.nodes[n].first_output + i);
  return values;
}

// Decides which gradients are products, and what is saved.
void choose(Form& form) {
  RecordingScope scope;
  const StepBack step(form);
  std::vector<ValueId> read;
  Indices sums;
  for (size_t k = 0; k < step.found.size(); ++k) {
    const bool is_sum = k >= form.carries.size() && k < form.carries.size() + form.sums.size();
    const Node* const product = is_sum ? product_over_rows(step.found[k]) : nullptr;
    if (is_sum) (product ? form.products : sums).push_back(form.sums[k - form.carries.size()]);
    if (product)
      read.insert(read.end(), product->inputs.begin(), product->inputs.end());
    else if (step.found[k].defined())
      read.push_back(id_of(step.found[k]));
  }
  form.sums = sums;
  form.saved = values_to_save(form, scope.recording().trace(), read);
}

// The loop with its histories and with what is saved of each step, behind its results.
std::vector<Tensor> record_forward(const Form& form) {
  if (form.loop.history && form.saved.empty()) return {form.call.outputs.begin(), form.call.outputs.end()};
  Trace body = form.body;
  body.outputs.insert(body.outputs.end(), form.saved.begin(), form.saved.end());
  Loop forward = form.loop;
  forward.body = std::make_shared<const Trace>(std::move(body));
  forward.history = true;
  return record_loop(forward, form.call.inputs, form.call.place);
}

// -- the loop backwards -----------------------------------------------------------------------------------------

// A matrix of each step: an input of the loop's body, or a result of the backward loop.
struct Factor {
  bool is_input;
  size_t at;
  int64_t rows, columns;  // of a step
};
struct Backward {
  Trace body;
  std::vector<std::pair<Factor, Factor>> factors;  // of each product
};

// An input that has the same elements, or one more result.
Factor factor(const Form& form, const StepBack& step, ValueId id, std::vector<Tensor>& results) {
  Recording& recording = *current_recording();
  const Trace& trace = recording.trace();
  const Shape& shape = trace.spec(id).shape;
  ValueId root = id;
  for (const Node* node = trace.producer(root); node && node->op->view; node = trace.producer(root))
    root = node->inputs[0];
  for (size_t i = 0; i < form.first_other(); ++i)
    if (id_of(step.arguments[i]) == root) return {true, i, shape[0], shape[1]};
  results.push_back(recording.tensor(id));
  return {false, results.size() - 1, shape[0], shape[1]};
}

// The trace with what is saved in the place of the nodes that make it.
Trace with_saved(const Form& form, const StepBack& step, Trace trace) {
  std::vector<ValueId> now(trace.values.size());
  for (size_t v = 0; v < now.size(); ++v) now[v] = static_cast<ValueId>(v);
  for (size_t k = 0; k < form.saved.size(); ++k) {
    const size_t made = form.body.producer_index(form.saved[k]);
    const int at = number_of(form.saved[k]) - number_of(form.body.nodes[made].first_output);
    now[static_cast<size_t>(trace.nodes[made].first_output + at)] = id_of(step.saved[k]);
  }
  for (Node& node : trace.nodes)
    for (ValueId& id : node.inputs) id = now[static_cast<size_t>(id)];
  for (ValueId& id : trace.outputs) id = now[static_cast<size_t>(id)];
  return trace;
}

Backward record_backward(const Form& form) {
  RecordingScope scope;
  StepBack step(form);
  Backward made;
  std::vector<Tensor> outputs, results;
  const auto found_or_zeros = [&](size_t k, size_t input) {
    return step.found[k].defined() ? step.found[k] : zeros(form.spec(input), step.place());
  };
  for (size_t k = 0; k < form.carries.size(); ++k) outputs.push_back(found_or_zeros(k, form.carries[k]));
  for (size_t k = 0; k < form.sums.size(); ++k) {
    if (const Tensor& more = step.found[form.carries.size() + k]; more.defined()) step.add_to(step.sums[k], more);
    outputs.push_back(step.sums[k]);
  }
  const size_t products = outputs.size(), sequences = products + form.products.size();
  for (size_t k = 0; k < form.sequences.size(); ++k)
    results.push_back(found_or_zeros(sequences + k, form.sequences[k]));
  for (size_t k = 0; k < form.products.size(); ++k) {
    const auto inputs = product_over_rows(step.found[products + k])->inputs;
    const Factor a = factor(form, step, inputs[0], results), b = factor(form, step, inputs[1], results);
    made.factors.emplace_back(a, b);
  }
  outputs.insert(outputs.end(), results.begin(), results.end());
  made.body = with_saved(form, step, scope.recording().take_trace(outputs));
  return made;
}

// One tensor for each input of the loop, of what the loop backwards made.
std::vector<Tensor> by_input(const Form& form, const Backward& backward, const std::vector<Tensor>& elements,
                             const std::vector<Tensor>& outputs) {
  std::vector<Tensor> found(form.call.inputs.size());
  size_t next = 0;
  for (const Indices* group : {&form.carries, &form.sums, &form.sequences})
    for (const size_t i : *group) found[i] = outputs[next++];
  const auto all_rows = [&](const Factor& of) {
    const Tensor& all = of.is_input ? elements[of.at] : outputs[form.carries.size() + form.sums.size() + of.at];
    return reshape(all, {form.loop.length * of.rows, of.columns}, "", form.call.place);
  };
  for (size_t k = 0; k < form.products.size(); ++k) {
    const auto& [a, b] = backward.factors[k];
    found[form.products[k]] = matmul(all_rows(a), all_rows(b), {.transpose_a = true}, form.call.place);
  }
  return found;
}

}  // namespace

std::vector<Tensor> loop_gradient(const GradientCall& call) {
  Form form(call);
  choose(form);
  std::vector<Tensor> inputs;
  for (const size_t i : form.carries)
    inputs.push_back(call.cotangents[i].defined() ? call.cotangents[i] : zeros(form.spec(i), call.place));
  for (const size_t i : form.sums) inputs.push_back(zeros(form.spec(i), call.place));
  const size_t carries = inputs.size();
  const std::vector<Tensor> forward = record_forward(form);
  const auto saved = forward.begin() + offset(form.first_history()), history = saved + offset(form.saved.size());
  std::vector<Tensor> elements(history, forward.end());  // of all steps: what carries were before them, sequences
  elements.insert(elements.end(), call.inputs.begin() + offset(form.loop.carries),
                  call.inputs.begin() + offset(form.first_other()));
  inputs.insert(inputs.end(), elements.begin(), elements.end());
  for (const size_t k : form.given) inputs.push_back(call.cotangents[k]);
  inputs.insert(inputs.end(), saved, history);
  const size_t sequences = inputs.size() - carries;
  inputs.insert(inputs.end(), call.inputs.begin() + offset(form.first_other()), call.inputs.end());
  const Backward backward = record_backward(form);
  ensure(backward.body.inputs.size() == inputs.size(), "a gradient in a loop makes no tensor of its own");
  const Loop loop(std::make_shared<const Trace>(backward.body), form.loop.length, carries, sequences,
                  !form.loop.reverse, false);
  return by_input(form, backward, elements, record_loop(loop, inputs, call.place));
}

}  // namespace retrace
