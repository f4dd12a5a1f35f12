// A chain of narrow layers over many rows.

#include "retrace/plan/cpu/step.h"
#include "retrace/plan/programs/row_program.h"

namespace retrace {
namespace {

class RowStep final : public Step {
 public:
  explicit RowStep(StepSite& site)
      : Step(site),
        program_(node().body->trace),
        addresses_(site.book_addresses(placed().inputs.size() + placed().outputs.size())) {
    site.book(workspace_, static_cast<size_t>(program_.workspace_bytes()));
  }

  void run(const StepRun& run) const override {
    void** const inputs = run.addresses(addresses_);
    bind(run, inputs);
    program_.run(inputs, inputs + placed().inputs.size(), run.at(workspace_));
  }

 private:
  RowProgram program_;
  size_t addresses_;
  Location workspace_;
};

bool takes_row_step(const Trace&, const Node& node) { return node.op == &row_chain_op(); }

}  // namespace

void define_row_step(StepKinds& kinds) {
  kinds.add({.name = "row", .takes = takes_row_step, .make = make_step<RowStep>});
}

}  // namespace retrace
