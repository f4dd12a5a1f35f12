// The gradient of a loop: a loop in the other direction. Its carries are the cotangents of the float carries and, for
// each input that is the same in every step, the sum of its gradient so far. Where that gradient is a product of two
// matrices of a step, the sum over all steps is one product of both matrices of all steps, behind the loop. What
// contractions made in each step is not computed again: the loop is recorded once more with these as results, and the
// pass merge_loops puts it in the place of the first one.

#include <algorithm>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/loop.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {
namespace {

Tensor zeros(const TensorSpec& spec, Place place) {
  return broadcast(constant(0, spec.type), spec.shape, spec.labels.text(), place);
}

// y = a^T b over rows of both, which makes y of this value of the current recording, or null.
const Node* product_over_rows(const Tensor& y) {
  if (!y.defined() || y.rank() != 2) return nullptr;
  const Node* const node = current_recording()->trace().producer(ValueId{y.value()->id});
  if (!node || !node->op->matrix_product) return nullptr;
  const MatrixProduct product = node->op->matrix_product(node->attributes);
  return product.transpose_a && !product.transpose_b ? node : nullptr;
}

class LoopGradient {
 public:
  explicit LoopGradient(const GradientCall& call) : call_(call), loop_(call.attributes), body_(*loop_.body) {
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      const bool is_carry = i < loop_.carries, is_float = retrace::is_float(spec(i).type);
      if (is_carry && is_float) carries_.push_back(i);
      if (!is_carry && is_float && call.needed[i]) (i < first_other() ? sequences_ : sums_).push_back(i);
    }
    for (size_t k = loop_.carries; k < call.outputs.size(); ++k)
      if (call.cotangents[k].defined()) given_.push_back(k);
  }

  std::vector<Tensor> run() {
    find_products();
    std::vector<Tensor> inputs;
    for (const size_t i : carries_)
      inputs.push_back(call_.cotangents[i].defined() ? call_.cotangents[i] : zeros(spec(i), call_.place));
    for (const size_t i : sums_) inputs.push_back(zeros(spec(i), call_.place));
    const size_t carries = inputs.size();
    const std::vector<Tensor> forward = record_forward();
    elements_.assign(forward.begin() + offset(first_history() + saved_.size()), forward.end());
    elements_.insert(elements_.end(), call_.inputs.begin() + offset(loop_.carries),
                     call_.inputs.begin() + offset(first_other()));
    inputs.insert(inputs.end(), elements_.begin(), elements_.end());
    for (const size_t k : given_) inputs.push_back(call_.cotangents[k]);
    inputs.insert(inputs.end(), forward.begin() + offset(first_history()),
                  forward.begin() + offset(first_history() + saved_.size()));
    const size_t sequences = inputs.size() - carries;
    inputs.insert(inputs.end(), call_.inputs.begin() + offset(first_other()), call_.inputs.end());
    auto body = std::make_shared<const Trace>(record_body());
    ensure(body->inputs.size() == inputs.size(), "a gradient in a loop makes no tensor of its own");
    return by_input(
        record_loop({std::move(body), loop_.length, carries, sequences, !loop_.reverse, false}, inputs, call_.place));
  }

 private:
  // A matrix of each step: an input of the loop's body, or a result of the backward loop.
  struct Factor {
    bool is_input;
    size_t at;
    int64_t rows, columns;  // of a step
  };
  struct Product {
    size_t input;  // whose gradient it is
    Factor a, b;
  };
  // One step backwards, recorded: the gradients of carries, sums, products and sequences, in this order.
  struct StepBack {
    std::vector<Tensor> arguments, sums, saved, found;
  };

  static std::ptrdiff_t offset(size_t i) { return static_cast<std::ptrdiff_t>(i); }
  const TensorSpec& spec(size_t input) const { return body_.spec(body_.inputs[input]); }
  size_t first_other() const { return loop_.carries + loop_.sequences; }
  size_t first_history() const { return loop_.carries + loop_.results(); }

  // The loop with its histories and with what is saved of each step, behind its results.
  std::vector<Tensor> record_forward() const {
    if (loop_.history && saved_.empty()) return {call_.outputs.begin(), call_.outputs.end()};
    Trace body = body_;
    body.outputs.insert(body.outputs.end(), saved_.begin(), saved_.end());
    Loop forward = loop_;
    forward.body = std::make_shared<const Trace>(std::move(body));
    forward.history = true;
    return record_loop(forward, call_.inputs, call_.place);
  }

  // Of one step, of a result or of a carry before it.
  const TensorSpec& cotangent_spec(size_t output) const {
    return output < first_history() ? body_.spec(body_.outputs[output]) : spec(output - first_history());
  }

  // Decides how each gradient is summed, and what is saved.
  void find_products() {
    RecordingScope scope;
    const StepBack step = record_step();
    const Trace& trace = scope.recording().trace();
    std::vector<ValueId> read;
    std::vector<size_t> sums;
    for (size_t k = 0; k < step.found.size(); ++k) {
      if (!step.found[k].defined()) continue;
      const bool is_sum = k >= carries_.size() && k < carries_.size() + sums_.size();
      const Node* const product = is_sum ? product_over_rows(step.found[k]) : nullptr;
      if (product)
        read.insert(read.end(), product->inputs.begin(), product->inputs.end());
      else
        read.push_back(ValueId{step.found[k].value()->id});
    }
    for (size_t k = 0; k < sums_.size(); ++k)
      (product_over_rows(step.found[carries_.size() + k]) ? product_inputs_ : sums).push_back(sums_[k]);
    sums_ = sums;
    saved_ = contractions_behind(trace, read);
  }

  // Of the body's nodes, which are the first ones of the trace: the results of contractions that make these values.
  std::vector<ValueId> contractions_behind(const Trace& trace, const std::vector<ValueId>& read) const {
    std::vector<bool> wanted(trace.values.size());
    for (ValueId id : read) wanted[static_cast<size_t>(id)] = true;
    std::vector<ValueId> saved;
    for (size_t n = trace.nodes.size(); n-- > 0;) {
      const Node& node = trace.nodes[n];
      const bool is_saved = n < body_.nodes.size() && (node.op->contraction || node.op->loop);
      bool used = false;
      for (int i = node.output_count; i-- > 0;) {
        if (!wanted[static_cast<size_t>(node.first_output + i)]) continue;
        used = true;
        if (is_saved) saved.push_back(body_.nodes[n].first_output + i);
      }
      for (ValueId id : node.inputs)
        wanted[static_cast<size_t>(id)] = wanted[static_cast<size_t>(id)] || (used && !is_saved);
    }
    return saved;
  }

  StepBack record_step() const {
    const auto input = [](const TensorSpec& spec) {
      return current_recording()->add_input({spec.type, spec.shape, spec.labels, {}, spec.device});
    };
    StepBack step;
    std::vector<Tensor> cotangents, given, wanted;
    for (const size_t i : carries_) cotangents.push_back(input(spec(i)));
    for (const size_t i : sums_) step.sums.push_back(input(spec(i)));
    for (size_t i = 0; i < first_other(); ++i) step.arguments.push_back(input(spec(i)));
    for (const size_t k : given_) given.push_back(input(cotangent_spec(k)));
    for (const ValueId id : saved_) step.saved.push_back(input(body_.spec(id)));
    for (size_t i = first_other(); i < body_.inputs.size(); ++i) step.arguments.push_back(input(spec(i)));
    const auto made = current_recording()->splice(body_, step.arguments, {}, call_.place);
    std::vector<Tensor> of_outputs(made.size());
    for (size_t k = 0; k < carries_.size(); ++k) of_outputs[carries_[k]] = cotangents[k];
    for (size_t k = 0; k < given_.size(); ++k)
      if (given_[k] < first_history()) of_outputs[given_[k]] = given[k];
    for (const auto* group : {&carries_, &sums_, &product_inputs_, &sequences_})
      for (const size_t i : *group) wanted.push_back(step.arguments[i]);
    step.found = vjp(made, of_outputs, wanted, call_.place);
    for (size_t k = 0; k < given_.size(); ++k)
      if (given_[k] >= first_history()) add_to(step.found[carry_at(given_[k] - first_history())], given[k]);
    return step;
  }

  size_t carry_at(size_t input) const {
    return static_cast<size_t>(std::find(carries_.begin(), carries_.end(), input) - carries_.begin());
  }
  void add_to(Tensor& sum, const Tensor& more) const { sum = sum.defined() ? add(sum, more, call_.place) : more; }

  Trace record_body() {
    RecordingScope scope;
    StepBack step = record_step();
    std::vector<Tensor> outputs, results;
    const auto found_or_zeros = [&](const Tensor& found, size_t input) {
      return found.defined() ? found : zeros(spec(input), call_.place);
    };
    for (size_t k = 0; k < carries_.size(); ++k) outputs.push_back(found_or_zeros(step.found[k], carries_[k]));
    for (size_t k = 0; k < sums_.size(); ++k) {
      add_to(step.sums[k], step.found[carries_.size() + k]);
      outputs.push_back(step.sums[k]);
    }
    const size_t first = outputs.size();
    for (size_t k = 0; k < sequences_.size(); ++k)
      results.push_back(found_or_zeros(step.found[first + product_inputs_.size() + k], sequences_[k]));
    for (size_t k = 0; k < product_inputs_.size(); ++k) {
      const Node& product = *product_over_rows(step.found[first + k]);
      const Factor a = factor(product.inputs[0], step, results), b = factor(product.inputs[1], step, results);
      products_.push_back({product_inputs_[k], a, b});
    }
    outputs.insert(outputs.end(), results.begin(), results.end());
    return with_saved(scope.recording().take_trace(outputs), step);
  }

  // The trace with what is saved in the place of the nodes that make it.
  Trace with_saved(Trace trace, const StepBack& step) const {
    std::vector<ValueId> now(trace.values.size());
    for (size_t v = 0; v < now.size(); ++v) now[v] = static_cast<ValueId>(v);
    for (size_t k = 0; k < saved_.size(); ++k) {
      const size_t made = body_.producer_index(saved_[k]);
      const int at = number_of(saved_[k]) - number_of(body_.nodes[made].first_output);
      now[static_cast<size_t>(trace.nodes[made].first_output + at)] = ValueId{step.saved[k].value()->id};
    }
    for (Node& node : trace.nodes)
      for (ValueId& id : node.inputs) id = now[static_cast<size_t>(id)];
    for (ValueId& id : trace.outputs) id = now[static_cast<size_t>(id)];
    return trace;
  }

  // An input that has the same elements, or one more result.
  Factor factor(ValueId id, const StepBack& step, std::vector<Tensor>& results) const {
    Recording& recording = *current_recording();
    const Trace& trace = recording.trace();
    const Shape& shape = trace.spec(id).shape;
    ValueId root = id;
    for (const Node* node = trace.producer(root); node && node->op->view; node = trace.producer(root))
      root = node->inputs[0];
    for (size_t i = 0; i < first_other(); ++i)
      if (ValueId{step.arguments[i].value()->id} == root) return {true, i, shape[0], shape[1]};
    results.push_back(recording.tensor(id));
    return {false, results.size() - 1, shape[0], shape[1]};
  }

  std::vector<Tensor> by_input(const std::vector<Tensor>& outputs) const {
    std::vector<Tensor> found(call_.inputs.size());
    size_t next = 0;
    for (const auto* group : {&carries_, &sums_, &sequences_})
      for (const size_t i : *group) found[i] = outputs[next++];
    const auto all_rows = [&](const Factor& factor) {
      const Tensor& all = factor.is_input ? elements_[factor.at] : outputs[carries_.size() + sums_.size() + factor.at];
      return reshape(all, {loop_.length * factor.rows, factor.columns}, "", call_.place);
    };
    for (const Product& product : products_)
      found[product.input] = matmul(all_rows(product.a), all_rows(product.b), {.transpose_a = true}, call_.place);
    return found;
  }

  const GradientCall& call_;
  const Loop loop_;
  const Trace& body_;
  std::vector<size_t> carries_, sequences_, sums_, product_inputs_;  // inputs of the body with a gradient, by its form
  std::vector<ValueId> saved_;    // values of the body that the loop keeps of each step
  std::vector<size_t> given_;     // outputs behind the carries that have a cotangent
  std::vector<Tensor> elements_;  // of all steps: what carries were before them, sequences
  std::vector<Product> products_;
};

}  // namespace

std::vector<Tensor> loop_gradient(const GradientCall& call) { return LoopGradient(call).run(); }

}  // namespace retrace
