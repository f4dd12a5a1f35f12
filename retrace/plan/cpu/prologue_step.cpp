// A reduction whose input a chain makes while it is read.

#include "retrace/plan/cpu/step.h"
#include "retrace/plan/programs/tile_program.h"

namespace retrace {
namespace {

class ChainSource final : public TileSource {
 public:
  ChainSource(const TileProgram& program, const void* const* inputs, const float* patterns)
      : program_(program), inputs_(inputs), patterns_(patterns) {}
  void load(int64_t begin, int64_t count, float* to) const override {
    void* base = to - begin;  // the chain writes element i of the whole array at its base plus i
    program_.run(begin, begin + count, inputs_, &base, patterns_);
  }

 private:
  const TileProgram& program_;
  const void* const* inputs_;
  const float* patterns_;
};

class PrologueStep final : public Step {
 public:
  explicit PrologueStep(StepSite& site)
      : Step(site),
        program_(node().body->trace),
        made_(node().body->trace.spec(node().body->trace.outputs[0])),
        addresses_(site.book_addresses(placed().inputs.size() + placed().outputs.size())) {
    site.book(workspace_, workspace_bytes(node(), std::span(&made_, 1)));
    site.book(patterns_, program_.pattern_bytes());
  }

  void run(const StepRun& run) const override {
    void** const inputs = run.addresses(addresses_);
    bind(run, inputs);
    auto* const patterns = static_cast<float*>(run.at(patterns_));
    program_.prepare(inputs, patterns);
    auto& out = run.memory.kernel_outputs;
    out.clear();
    const PlacedNode& own = placed();
    for (size_t i = 0; i < own.outputs.size(); ++i) out.push_back({inputs[own.inputs.size() + i], own.output_specs[i]});
    const KernelInput made{nullptr, &made_};
    const ChainSource source(program_, inputs, patterns);
    call_kernel(node(), {node().attributes, std::span(&made, 1), out, run.at(workspace_), nullptr, &source});
  }

 private:
  TileProgram program_;
  TensorSpec made_;  // what the chain makes
  size_t addresses_;
  Location workspace_, patterns_;
};

bool takes_prologue_step(const Trace&, const Node& node) {
  return node.body && node.body->role == Body::Role::prologue;
}

}  // namespace

void define_prologue_step(StepKinds& kinds) {
  kinds.add({.name = "prologue", .takes = takes_prologue_step, .make = make_step<PrologueStep>});
}

}  // namespace retrace
