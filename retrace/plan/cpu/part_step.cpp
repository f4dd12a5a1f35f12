// An array that is made of parts of others.

#include "retrace/plan/cpu/step.h"
#include "retrace/plan/programs/part_program.h"

namespace retrace {
namespace {

class PartStep final : public Step {
 public:
  explicit PartStep(StepSite& site)
      : Step(site),
        program_(node().body->trace),
        addresses_(site.book_addresses(placed().inputs.size() + placed().outputs.size())) {}

  void run(const StepRun& run) const override {
    void** const inputs = run.addresses(addresses_);
    bind(run, inputs);
    program_.run(inputs, inputs[placed().inputs.size()]);
  }

 private:
  PartProgram program_;
  size_t addresses_;
};

bool takes_part_step(const Trace&, const Node& node) { return node.op == &parts_op(); }

}  // namespace

void define_part_step(StepKinds& kinds) {
  kinds.add({.name = "part", .takes = takes_part_step, .make = make_step<PartStep>});
}

}  // namespace retrace
