// Layers and their gradients, forward and backward, over a few samples at a time: what lies in between stays in a
// thread's caches. Every thread takes slabs of samples and runs a plan of all kernels on them by itself; sums over the
// samples come out as the slabs' subtrees, and the tree goes on over those: the values are those of the ops one by one.

#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/finish_order.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/plan/cpu/cpu_plan.h"
#include "retrace/plan/programs/samples.h"

namespace retrace {
namespace {

// The plan of a body over some of its samples.
class SlabPlan {
 public:
  SlabPlan(Trace body, const PlanOptions& options) : trace_(std::move(body)), plan_(trace_, options) {}
  CpuPlan& plan() { return plan_; }

 private:
  Trace trace_;
  CpuPlan plan_;
};

class SampleStep final : public Step {
 public:
  explicit SampleStep(StepSite& site)
      : Step(site),
        samples_(node().attributes.integer("samples")),
        slab_(node().attributes.integer("slab")),
        addresses_(site.book_addresses(placed().inputs.size() + placed().outputs.size())) {
    const Trace& body = node().body->trace;
    const auto cut = find_cut(body, samples_);
    const auto part = [&](ValueId id) {
      const TensorSpec& spec = body.spec(id);
      const bool sliced = cut[id];
      return Part{sliced, sliced ? spec.bytes() / static_cast<size_t>(samples_) : 0, sliced ? 0 : spec.count()};
    };
    for (ValueId id : body.inputs) inputs_.push_back(part(id));
    for (ValueId id : body.outputs) outputs_.push_back(part(id));
    whole_ = std::make_unique<SlabPlan>(with_samples(body, samples_, slab_), site.options);
    if (const int64_t rest = samples_ % slab_; rest > 0)
      rest_ = std::make_unique<SlabPlan>(with_samples(body, samples_, rest), site.options);
    Workspace space(nullptr);
    for (const Part& each : outputs_) space.take<float>(slabs() * each.floats);
    site.book(workspace_, static_cast<size_t>(space.bytes()));
  }

  void run(const StepRun& run) const override {
    void** const inputs = run.addresses(addresses_);
    bind(run, inputs);
    void** const outputs = inputs + inputs_.size();
    Workspace space(run.at(workspace_));
    thread_local std::vector<float*> partials;
    partials.clear();
    for (const Part& part : outputs_) partials.push_back(space.take<float>(slabs() * part.floats));
    float* const* const sums = partials.data();
    FinishOrder order(slabs());
    const auto mode = OwnModeScope::current();
    run_pieces(slabs(), [&](int64_t slab) {
      const OwnModeScope own(mode);
      run_slab(slab, inputs, outputs, sums);
      order.done(slab);
    });
    run_pieces(static_cast<int64_t>(outputs_.size()), [&](int64_t i) {
      const int64_t floats = outputs_[static_cast<size_t>(i)].floats;
      if (floats > 0) order.sum(sums[i], floats, nullptr, static_cast<float*>(outputs[i]), floats);
    });
  }

  size_t thread_bytes() const override { return whole_->plan().arena_bytes(); }

 private:
  // An array of the body: bytes of a sample if it is cut, else of a sum's floats or 0.
  struct Part {
    bool cut;
    size_t sample_bytes;
    int64_t floats;
  };

  int64_t slabs() const { return (samples_ + slab_ - 1) / slab_; }

  void run_slab(int64_t index, const void* const* inputs, void* const* outputs, float* const* partials) const {
    thread_local std::vector<const void*> from;
    thread_local std::vector<void*> to;
    from.clear();
    to.clear();
    const auto first = static_cast<size_t>(index * slab_);
    for (size_t i = 0; i < inputs_.size(); ++i)
      from.push_back(static_cast<const char*>(inputs[i]) + first * inputs_[i].sample_bytes);
    for (size_t i = 0; i < outputs_.size(); ++i)
      to.push_back(outputs_[i].cut
                       ? static_cast<void*>(static_cast<char*>(outputs[i]) + first * outputs_[i].sample_bytes)
                       : partials[i] + index * outputs_[i].floats);
    const bool last = (index + 1) * slab_ > samples_;
    (last ? *rest_ : *whole_).plan().run(from.data(), to.data(), nullptr);
  }

  int64_t samples_, slab_;
  std::vector<Part> inputs_, outputs_;
  std::unique_ptr<SlabPlan> whole_, rest_;  // of a slab; of the last one if it has fewer samples
  size_t addresses_;
  Location workspace_;
};

bool takes_sample_step(const Trace&, const Node& node) { return node.op == &sample_chain_op(); }

}  // namespace

void define_sample_step(StepKinds& kinds) {
  kinds.add({.name = "sample", .takes = takes_sample_step, .make = make_step<SampleStep>});
}

}  // namespace retrace
