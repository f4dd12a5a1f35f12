#pragma once
// A plan: a trace made ready to run many times. A flat list of kernel calls over one arena; returned tensors have
// buffers of their own.

#include <memory>
#include <string>
#include <vector>

#include "retrace/plan/cuda_plan.h"
#include "retrace/plan/location.h"
#include "retrace/plan/pass.h"
#include "retrace/plan/row_program.h"
#include "retrace/plan/sample_program.h"
#include "retrace/plan/strip_reduction.h"
#include "retrace/plan/tile_program.h"

namespace retrace {

// Passes in order; read this to know what happens to a trace.
std::span<const Pass> all_passes();
// Applies those that are on. RETRACE_PASSES_OFF, or set_passes_off(), switches off; an unknown name is Error(usage).
Trace optimise(const Trace& trace, std::vector<PassReport>* report = nullptr);
void set_passes_off(const std::vector<std::string>& names);
bool pass_is_on(std::string_view name);

class Plan {
 public:
  explicit Plan(const Trace& recorded);
  // Of a trace that has been through the passes.
  struct AsItIs {};
  Plan(Trace planned, AsItIs);

  // Runs on the trace's device. inputs[i] and outputs[i] are the bytes, there, of the recorded trace's inputs and
  // outputs.
  void run(const void* const* inputs, void* const* outputs) const;

  // For each output the input in whose memory it may be made (each input once), or -1: nothing reads the input after
  // its bytes are overwritten, and both have one size. Any of them, or none, may share memory in a run.
  const std::vector<int>& donors() const { return donors_; }

  const Trace& trace() const { return trace_; }  // after the passes
  const std::vector<PassReport>& reports() const { return reports_; }
  size_t arena_bytes() const { return arena_bytes_; }
  size_t kernel_calls() const { return cuda_ ? cuda_->kernel_calls() : launches_.size(); }
  // On a CUDA device: the launches, of all runs together, that had to be changed because a run's inputs or outputs lay
  // elsewhere than those of the run before it.
  size_t changed_launches() const { return cuda_ ? cuda_->changed_launches() : 0; }
  // For people: passes, kernel calls, memory; the same with the trace after the passes.
  std::string summary() const;
  std::string text() const;
  // For people: each kernel call, what was fused into it with the user's places, and what the passes say of why it does
  // not make its arguments itself.
  std::string why() const;

  // For tools: while a list is set, runs on this thread add the seconds of each kernel call to it; on a CUDA device
  // they wait for it. Null ends that.
  static void time_kernel_calls(std::vector<double>* seconds);
  // The ops of a kernel call, what has been fused into them, and the type and shape of the first result.
  std::string kernel_call_name(size_t call) const;

 private:
  // A sum over positions that a step takes of its results: of its body's inputs and outputs.
  struct Reduction {
    StripReduction work;
    std::vector<size_t> inputs;  // the body's inputs, and behind them its outputs
    size_t first_output;         // of the step
    Location workspace;
    size_t pointers = 0;  // where its inputs start in those of a run
  };
  struct Step {
    const Node* node;
    size_t launch;
    std::vector<Location> inputs, outputs;
    std::vector<const TensorSpec*> input_specs, output_specs;
    Location workspace, patterns;
    Location raw;  // the contraction's result before its epilogue
    const TensorSpec* raw_spec = nullptr;
    TensorSpec made_spec;                  // the first input that a prologue makes
    std::unique_ptr<TileProgram> program;  // of a fused chain, prologue or epilogue
    std::unique_ptr<RowProgram> rows;      // of a chain of rows
    std::unique_ptr<SampleProgram> samples;
    std::vector<Reduction> reductions;
    bool chain = false;     // the program is all there is to do
    size_t own_inputs = 0;  // inputs of the kernel itself; the rest belong to the epilogue
    size_t pointers = 0;    // where this step's pointers start in those of a run
  };
  // Steps first..first+count-1 run at the same time: one kernel, or chains that need nothing of each other.
  struct Launch {
    size_t first, count;
    int64_t pieces;  // of its chains
  };
  struct Copy {
    Location from;
    size_t output;
    size_t bytes;
  };
  struct Placement;
  class Run;
  class Words;

  void lay_out();
  void add_step(Placement& placement, const Node& node, size_t launch);
  void add_reductions(Placement& placement, Step& step, size_t launch);
  void add_launches();
  void find_donors();
  static int own_donor(const Step& step, size_t output, FunctionRef<bool(size_t input)> free);
  void run_constants();

  std::vector<PassReport> reports_;  // before the trace: the passes that make it report here
  Trace trace_;
  std::vector<Step> steps_;
  std::vector<Launch> launches_;
  size_t pointer_count_ = 0;
  std::vector<Copy> copies_;
  std::vector<char> constants_;
  std::vector<int> donors_;
  std::unique_ptr<CudaPlan> cuda_;  // instead of all the above
  size_t arena_bytes_ = 0;
};

}  // namespace retrace
