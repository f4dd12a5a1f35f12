// A loop: its body has been through the passes, is planned once, and the plan runs for each step. Carries go from step
// to step in their histories where these are kept, else through two buffers. What kernels make of what all steps share,
// such as packed weights, they make in the first step.

#include <cstring>

#include "retrace/ops/loop.h"
#include "retrace/plan/cpu/cpu_plan.h"

namespace retrace {
namespace {

class LoopStep final : public Step {
 public:
  explicit LoopStep(StepSite& site)
      : Step(site),
        loop_(node().attributes),
        plan_(*loop_.body, site.options, shared_by_steps(loop_)),
        addresses_(site.book_addresses(2 * (placed().inputs.size() + placed().outputs.size()))),
        buffers_(loop_.history ? 0 : 2 * loop_.carries) {
    const auto& specs = loop_.body->inputs;
    for (size_t k = 0; k < loop_.carries; ++k) bytes_.push_back(loop_.body->spec(specs[k]).bytes());
    for (size_t k = 0; k < buffers_.size(); ++k) site.book(buffers_[k], bytes_[k % loop_.carries]);
    for (size_t k = 0; k < loop_.sequences; ++k)
      element_bytes_.push_back(loop_.body->spec(specs[loop_.carries + k]).bytes());
    for (size_t k = loop_.carries; k < loop_.body->outputs.size(); ++k)
      result_bytes_.push_back(loop_.body->spec(loop_.body->outputs[k]).bytes());
    site.book(kept_, plan_.kept_bytes());
  }

  void run(const StepRun& run) const override {
    void** const own_inputs = run.addresses(addresses_);
    bind(run, own_inputs);
    void** const own_outputs = own_inputs + placed().inputs.size();
    void** const inputs = own_outputs + placed().outputs.size();
    void** const outputs = inputs + placed().inputs.size();
    std::copy_n(own_inputs, placed().inputs.size(), inputs);
    begin(own_inputs, own_outputs, inputs);
    for (int64_t i = 0; i < loop_.length; ++i) {
      const auto at = static_cast<size_t>(loop_.place_of(i));
      for (size_t k = 0; k < loop_.carries; ++k) outputs[k] = next_carry(run, own_outputs, i, k);
      for (size_t k = 0; k < loop_.sequences; ++k)
        inputs[loop_.carries + k] = moved(own_inputs[loop_.carries + k], at * element_bytes_[k]);
      for (size_t k = 0; k < result_bytes_.size(); ++k)
        outputs[loop_.carries + k] = moved(own_outputs[loop_.carries + k], at * result_bytes_[k]);
      plan_.run_again(inputs, outputs, {run.at(kept_), i > 0});
      std::copy_n(outputs, loop_.carries, inputs);
    }
  }

  size_t thread_bytes() const override { return plan_.arena_bytes(); }

 private:
  static std::vector<bool> shared_by_steps(const Loop& loop) {
    std::vector<bool> shared(loop.body->inputs.size());
    for (size_t k = loop.carries + loop.sequences; k < shared.size(); ++k) shared[k] = loop.length > 1;
    return shared;
  }

  static void* moved(void* from, size_t bytes) { return static_cast<char*>(from) + bytes; }

  void* history(void** outputs, int64_t iteration, size_t k) const {
    return moved(outputs[loop_.carries + loop_.results() + k],
                 static_cast<size_t>(loop_.place_of(iteration)) * bytes_[k]);
  }

  // The first carries; of a loop without steps they are the last.
  void begin(void** own_inputs, void** own_outputs, void** inputs) const {
    for (size_t k = 0; k < loop_.carries; ++k) {
      if (loop_.length > 0 && !loop_.history) continue;
      void* const to = loop_.length > 0 ? history(own_outputs, 0, k) : own_outputs[k];
      if (bytes_[k] > 0) std::memcpy(to, own_inputs[k], bytes_[k]);
      inputs[k] = to;
    }
  }

  void* next_carry(const StepRun& run, void** own_outputs, int64_t iteration, size_t k) const {
    if (iteration + 1 == loop_.length) return own_outputs[k];
    if (loop_.history) return history(own_outputs, iteration + 1, k);
    return run.at(buffers_[static_cast<size_t>(iteration % 2) * loop_.carries + k]);
  }

  Loop loop_;
  mutable CpuPlan plan_;
  size_t addresses_;
  std::vector<Location> buffers_;
  Location kept_;
  std::vector<size_t> bytes_, element_bytes_, result_bytes_;  // of carries, and of an element of the others
};

bool takes_loop_step(const Trace&, const Node& node) { return node.op->loop; }

}  // namespace

void define_loop_step(StepKinds& kinds) {
  kinds.add({.name = "loop", .takes = takes_loop_step, .make = make_step<LoopStep>});
}

}  // namespace retrace
