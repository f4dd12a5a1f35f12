// The kernel of an op, or of a pointwise op on types that no tile program has.

#include "retrace/plan/cpu/step.h"
#include "retrace/plan/programs/tile_program.h"

namespace retrace {
namespace {

class KernelStep final : public Step {
 public:
  explicit KernelStep(StepSite& site) : Step(site) {
    std::vector<TensorSpec> specs;
    for (const TensorSpec* spec : placed().input_specs) specs.push_back(*spec);
    site.book(workspace_, workspace_bytes(node(), specs));
    site.book_kept(kept_, placed());
  }

  void run(const StepRun& run) const override {
    auto& in = run.memory.kernel_inputs;
    auto& out = run.memory.kernel_outputs;
    in.clear();
    out.clear();
    const PlacedNode& own = placed();
    for (size_t i = 0; i < own.inputs.size(); ++i) in.push_back({run.at(own.inputs[i]), own.input_specs[i]});
    for (size_t i = 0; i < own.outputs.size(); ++i) out.push_back({run.at(own.outputs[i]), own.output_specs[i]});
    call_kernel(node(), {node().attributes, in, out, run.at(workspace_), nullptr, nullptr, run.kept(kept_)});
  }

 private:
  Location workspace_, kept_;
};

bool takes_kernel_step(const Trace& trace, const Node& node) {
  return !node.body && (node.op->kernel || node.op->rule) && !is_tile_chain(trace, node);
}

}  // namespace

void define_kernel_step(StepKinds& kinds) {
  kinds.add({.name = "kernel", .takes = takes_kernel_step, .make = make_step<KernelStep>});
}

}  // namespace retrace
