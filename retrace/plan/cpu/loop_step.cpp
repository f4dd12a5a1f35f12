// A loop: its body has been through the passes, is planned once, and the plan runs for each step. Carries go from step
// to step in their histories where these are kept, else through two buffers. What kernels make of what all steps share,
// such as packed weights, they make in the first step. Where samples do not meet in the body, each thread takes some of
// them through all steps and waits for no other.

#include <algorithm>
#include <cstring>
#include <deque>

#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/loop.h"
#include "retrace/plan/cpu/cpu_plan.h"
#include "retrace/plan/programs/samples.h"
#include "retrace/plan/tuning.h"

namespace retrace {
namespace {

// The body over some of its samples, from `first` on, or over all.
struct LoopSlab {
  LoopSlab(Trace body, int64_t first, const PlanOptions& options, std::vector<bool> shared)
      : first(static_cast<size_t>(first)), trace(std::move(body)), plan(trace, options, std::move(shared)) {}
  size_t first;
  Trace trace;
  CpuPlan plan;
  Location kept;
};

class LoopStep final : public Step {
 public:
  explicit LoopStep(StepSite& site)
      : Step(site), loop_(node().attributes), buffers_(loop_.history ? 0 : 2 * loop_.carries) {
    const Trace& body = *loop_.body;
    for (size_t k = 0; k < loop_.carries; ++k) bytes_.push_back(body.spec(body.inputs[k]).bytes());
    for (size_t k = 0; k < buffers_.size(); ++k) site.book(buffers_[k], bytes_[k % loop_.carries]);
    for (size_t k = 0; k < loop_.sequences; ++k)
      element_bytes_.push_back(body.spec(body.inputs[loop_.carries + k]).bytes());
    for (size_t k = loop_.carries; k < body.outputs.size(); ++k)
      result_bytes_.push_back(body.spec(body.outputs[k]).bytes());
    add_slabs(site);
    for (LoopSlab& slab : slabs_) site.book(slab.kept, slab.plan.kept_bytes());
    addresses_ = site.book_addresses((1 + slabs_.size()) * arrays());
  }

  void run(const StepRun& run) const override {
    void** const own = run.addresses(addresses_);
    bind(run, own);
    begin(own);
    if (slabs_.size() == 1) return run_slab(run, slabs_[0], own, own + arrays());
    const auto mode = OwnModeScope::current();
    run_pieces(static_cast<int64_t>(slabs_.size()), [&](int64_t i) {
      const OwnModeScope own_mode(mode);
      const auto slab = static_cast<size_t>(i);
      run_slab(run, slabs_[slab], own, own + (1 + slab) * arrays());
    });
  }

  size_t thread_bytes() const override {
    size_t most = 0;
    for (const LoopSlab& slab : slabs_) most = std::max(most, slab.plan.arena_bytes());
    return most;
  }

 private:
  size_t arrays() const { return placed().inputs.size() + placed().outputs.size(); }

  static std::vector<bool> shared_by_steps(const Loop& loop) {
    std::vector<bool> shared(loop.body->inputs.size());
    for (size_t k = loop.carries + loop.sequences; k < shared.size(); ++k) shared[k] = loop.length > 1;
    return shared;
  }

  // One for each thread, of as many samples as the others or a few less.
  void add_slabs(const StepSite& site) {
    const Trace& body = *loop_.body;
    const Shape shape = loop_.carries > 0 ? body.spec(body.inputs[0]).shape : Shape{};
    const int64_t samples = shape.rank() >= 2 ? shape[0] : 1;
    int64_t count = std::min<int64_t>(site.options.threads, samples / tuning::kFewestLoopSamples);
    if (count < 2 || !goes_by_samples(body, samples)) count = 1;
    auto cut = count > 1 ? find_cut(body, samples) : ValueMap<bool>(body);
    // A state that is read whole, as the right factor of a product, needs what all threads made of it.
    for (size_t k = 0; k < loop_.carries && count > 1; ++k)
      if (!cut[body.inputs[k]]) count = 1, cut = ValueMap<bool>(body);
    const auto sample_bytes = [&](ValueId id) {
      return cut[id] ? body.spec(id).bytes() / static_cast<size_t>(samples) : 0;
    };
    for (ValueId id : body.inputs) input_sample_bytes_.push_back(sample_bytes(id));
    for (ValueId id : body.outputs) output_sample_bytes_.push_back(sample_bytes(id));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t first = samples * i / count, end = samples * (i + 1) / count;
      slabs_.emplace_back(count > 1 ? with_samples(body, samples, end - first) : body, first, site.options,
                          shared_by_steps(loop_));
    }
  }

  void run_slab(const StepRun& run, LoopSlab& slab, void* const* own, void** inputs) const {
    void* const* const own_outputs = own + placed().inputs.size();
    void** const outputs = inputs + placed().inputs.size();
    for (size_t k = 0; k < placed().inputs.size(); ++k) inputs[k] = moved(own[k], slab.first * input_sample_bytes_[k]);
    for (int64_t i = 0; i < loop_.length; ++i) {
      const auto at = static_cast<size_t>(loop_.place_of(i));
      for (size_t k = 0; k < loop_.carries; ++k) outputs[k] = next_carry(run, own_outputs, i, k);
      for (size_t k = 0; k < result_bytes_.size(); ++k)
        outputs[loop_.carries + k] = moved(own_outputs[loop_.carries + k], at * result_bytes_[k]);
      for (size_t k = 0; k < output_sample_bytes_.size(); ++k)
        outputs[k] = moved(outputs[k], slab.first * output_sample_bytes_[k]);
      for (size_t k = loop_.carries; k < loop_.carries + loop_.sequences; ++k)
        inputs[k] = moved(own[k], at * element_bytes_[k - loop_.carries] + slab.first * input_sample_bytes_[k]);
      slab.plan.run_again(inputs, outputs, {run.at(slab.kept), i > 0});
      std::copy_n(outputs, loop_.carries, inputs);
    }
  }

  static void* moved(void* from, size_t bytes) { return static_cast<char*>(from) + bytes; }

  void* history(void* const* outputs, int64_t iteration, size_t k) const {
    return moved(outputs[loop_.carries + loop_.results() + k],
                 static_cast<size_t>(loop_.place_of(iteration)) * bytes_[k]);
  }

  // The first carries; of a loop without steps they are the last.
  void begin(void** own) const {
    void* const* const outputs = own + placed().inputs.size();
    for (size_t k = 0; k < loop_.carries; ++k) {
      if (loop_.length > 0 && !loop_.history) continue;
      void* const to = loop_.length > 0 ? history(outputs, 0, k) : outputs[k];
      if (bytes_[k] > 0) std::memcpy(to, own[k], bytes_[k]);
      own[k] = to;
    }
  }

  void* next_carry(const StepRun& run, void* const* own_outputs, int64_t iteration, size_t k) const {
    if (iteration + 1 == loop_.length) return own_outputs[k];
    if (loop_.history) return history(own_outputs, iteration + 1, k);
    return run.at(buffers_[static_cast<size_t>(iteration % 2) * loop_.carries + k]);
  }

  Loop loop_;
  std::vector<Location> buffers_;
  std::vector<size_t> bytes_, element_bytes_, result_bytes_;  // of carries, and of an element of the others
  mutable std::deque<LoopSlab> slabs_;
  std::vector<size_t> input_sample_bytes_, output_sample_bytes_;  // of the body, 0 where slabs have it whole
  size_t addresses_ = 0;
};

bool takes_loop_step(const Trace&, const Node& node) { return node.op->loop; }

}  // namespace

void define_loop_step(StepKinds& kinds) {
  kinds.add({.name = "loop", .takes = takes_loop_step, .make = make_step<LoopStep>});
}

}  // namespace retrace
