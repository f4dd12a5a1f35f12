#pragma once
// The work of a body's tile program in a step: of a chain, or of an epilogue; with the sums over positions that are
// taken of what it makes.

#include "retrace/plan/cpu/step.h"
#include "retrace/plan/programs/strip_reduction.h"
#include "retrace/plan/programs/tile_program.h"

namespace retrace {

class TileWork {
 public:
  TileWork(StepSite& site, const Body& body, TileProgram::Use use);

  const TileProgram& program() const { return program_; }
  bool reduces() const { return !reductions_.empty(); }

  // In a run: the addresses of the body's inputs and, behind them, of its outputs, to be written before prepare().
  void** inputs(const StepRun& run) const { return run.addresses(addresses_); }
  void** outputs(const StepRun& run) const { return inputs(run) + input_count_; }
  void prepare(const StepRun& run) const;
  // Elements begin..end-1; disjoint ranges on any threads.
  void compute(const StepRun& run, int64_t begin, int64_t end) const;
  void finish(const StepRun& run) const;

 private:
  struct Reduction {
    StripReduction work;
    std::vector<size_t> inputs;  // numbers among the body's inputs and, behind them, its outputs
    size_t first_output;         // of the body
    size_t addresses;
    Location workspace;
    const void* const* inputs_in(const StepRun& run) const { return run.addresses(addresses); }
  };
  void add_reduction(StepSite& site, const Trace& body, const Node& node);

  TileProgram program_;
  size_t input_count_;
  size_t addresses_;
  Location patterns_;
  std::vector<Reduction> reductions_;
};

}  // namespace retrace
