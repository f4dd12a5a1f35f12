// The gradient of a loop: a loop in the other direction. Its carries are the cotangents of the float carries and, for
// each input that is the same in every step, the sum of its gradient so far.

#include <algorithm>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/loop.h"

namespace retrace {
namespace {

Tensor zeros(const TensorSpec& spec, Place place) {
  return broadcast(constant(0, spec.type), spec.shape, spec.labels.text(), place);
}

class LoopGradient {
 public:
  explicit LoopGradient(const GradientCall& call) : call_(call), loop_(call.attributes), body_(*loop_.body) {
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      const bool is_carry = i < loop_.carries, is_float = retrace::is_float(spec(i).type);
      if (is_carry && is_float) carries_.push_back(i);
      if (!is_carry && is_float && call.needed[i]) (is_sequence(i) ? sequences_ : others_).push_back(i);
    }
  }

  std::vector<Tensor> run() {
    const std::vector<Tensor> before = histories();
    std::vector<Tensor> inputs = first_carries();
    const size_t carries = inputs.size();
    inputs.insert(inputs.end(), before.begin(), before.end());
    for (size_t i = loop_.carries; i < loop_.carries + loop_.sequences; ++i) inputs.push_back(call_.inputs[i]);
    add_cotangents(inputs);
    const size_t sequences = inputs.size() - carries;
    for (size_t i = loop_.carries + loop_.sequences; i < call_.inputs.size(); ++i) inputs.push_back(call_.inputs[i]);
    auto body = std::make_shared<const Trace>(record_body(inputs));
    const Loop backward(std::move(body), loop_.length, carries, sequences, !loop_.reverse, false);
    return by_input(record_loop(backward, inputs, call_.place));
  }

 private:
  const TensorSpec& spec(size_t input) const { return body_.spec(body_.inputs[input]); }
  bool is_sequence(size_t input) const { return input >= loop_.carries && input < loop_.carries + loop_.sequences; }
  size_t first_history() const { return loop_.carries + loop_.results(); }

  // What each carry was before each step.
  std::vector<Tensor> histories() const {
    std::vector<Tensor> outputs(call_.outputs.begin(), call_.outputs.end());
    if (!loop_.history) {
      Loop again = loop_;
      again.history = true;
      outputs = record_loop(again, call_.inputs, call_.place);
    }
    outputs.erase(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(first_history()));
    return outputs;
  }

  std::vector<Tensor> first_carries() const {
    std::vector<Tensor> first;
    for (const size_t i : carries_)
      first.push_back(call_.cotangents[i].defined() ? call_.cotangents[i] : zeros(spec(i), call_.place));
    for (const size_t i : others_) first.push_back(zeros(spec(i), call_.place));
    return first;
  }

  // Of results and histories, where there are any; notes whose they are.
  void add_cotangents(std::vector<Tensor>& inputs) {
    for (size_t k = loop_.carries; k < call_.outputs.size(); ++k) {
      if (!call_.cotangents[k].defined()) continue;
      inputs.push_back(call_.cotangents[k]);
      given_.push_back(k);
    }
  }

  // One step backwards. The inputs are elements of those of the loop.
  Trace record_body(const std::vector<Tensor>& inputs) const {
    RecordingScope scope;
    Recording& recording = scope.recording();
    const auto add = [&](const TensorSpec& spec) { return recording.add_input({spec.type, spec.shape, spec.labels, {}, spec.device}); };
    std::vector<Tensor> cotangents, sums, arguments, given;
    for (const size_t i : carries_) cotangents.push_back(add(spec(i)));
    for (const size_t i : others_) sums.push_back(add(spec(i)));
    for (size_t i = 0; i < loop_.carries + loop_.sequences; ++i) arguments.push_back(add(spec(i)));
    for (const size_t k : given_) given.push_back(add(cotangent_spec(k)));
    for (size_t i = arguments.size(); i < body_.inputs.size(); ++i) arguments.push_back(add(spec(i)));
    const std::vector<Tensor> outputs = step_back(arguments, cotangents, given, sums);
    ensure(recording.trace().inputs.size() == inputs.size(), "a gradient in a loop makes no tensor of its own");
    return recording.take_trace(outputs);
  }

  // Of one step, of a result or of a carry before it.
  TensorSpec cotangent_spec(size_t output) const {
    return output < first_history() ? body_.spec(body_.outputs[output]) : spec(output - first_history());
  }

  std::vector<Tensor> step_back(const std::vector<Tensor>& arguments, const std::vector<Tensor>& cotangents,
                                const std::vector<Tensor>& given, const std::vector<Tensor>& sums) const {
    const auto made = current_recording()->splice(body_, arguments, {}, call_.place);
    std::vector<Tensor> of_outputs(made.size()), wanted;
    for (size_t k = 0; k < carries_.size(); ++k) of_outputs[carries_[k]] = cotangents[k];
    for (size_t k = 0; k < given_.size(); ++k)
      if (given_[k] < first_history()) of_outputs[given_[k]] = given[k];
    for (const auto* group : {&carries_, &others_, &sequences_})
      for (const size_t i : *group) wanted.push_back(arguments[i]);
    auto found = pull_back(made, of_outputs, wanted, call_.place);
    for (size_t k = 0; k < given_.size(); ++k)
      if (given_[k] >= first_history()) add_to(found[carry_at(given_[k] - first_history())], given[k]);
    for (size_t k = 0; k < sums.size(); ++k) add_sum(found[carries_.size() + k], sums[k]);
    for (size_t k = 0; k < wanted.size(); ++k)
      if (!found[k].defined()) found[k] = zeros(wanted[k].spec(), call_.place);
    return found;
  }

  size_t carry_at(size_t input) const {
    return static_cast<size_t>(std::find(carries_.begin(), carries_.end(), input) - carries_.begin());
  }
  void add_to(Tensor& sum, const Tensor& more) const { sum = sum.defined() ? add(sum, more, call_.place) : more; }
  void add_sum(Tensor& found, const Tensor& so_far) const {
    found = found.defined() ? add(so_far, found, call_.place) : so_far;
  }

  std::vector<Tensor> by_input(const std::vector<Tensor>& outputs) const {
    std::vector<Tensor> found(call_.inputs.size());
    size_t next = 0;
    for (const auto* group : {&carries_, &others_, &sequences_})
      for (const size_t i : *group) found[i] = outputs[next++];
    return found;
  }

  const GradientCall& call_;
  const Loop loop_;
  const Trace& body_;
  std::vector<size_t> carries_, sequences_, others_;  // inputs of the body with a gradient
  std::vector<size_t> given_;                         // outputs behind the carries that have a cotangent
};

}  // namespace

std::vector<Tensor> loop_gradient(const GradientCall& call) { return LoopGradient(call).run(); }

}  // namespace retrace
