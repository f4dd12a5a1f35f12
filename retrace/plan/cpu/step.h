#pragma once
// A step of a plan on the CPU: what computes one node of the planned trace. Each kind of step has a file x_step.cpp in
// this folder, which defines it by define_x_step(StepKinds&) and is found by its name.

#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "retrace/plan/layout/placement.h"
#include "retrace/plan/options.h"
#include "retrace/trace/op.h"

namespace retrace {

// A run of a plan, as its steps see it.
class StepRun {
 public:
  // What a run needs beside its arena; kept, so that only a thread's first run allocates.
  struct Memory {
    std::vector<void*> addresses;
    std::vector<KernelInput> kernel_inputs;
    std::vector<KernelOutput> kernel_outputs;
  };
  StepRun(const void* const* inputs, void* const* outputs, char* arena, const char* constants, KeptFactor kept,
          Memory& memory)
      : memory(memory), inputs_(inputs), outputs_(outputs), arena_(arena), constants_(constants), kept_(kept) {}

  void* at(const Location& location) const {
    switch (location.kind) {
      case Location::Kind::input: return const_cast<void*>(inputs_[location.at]);
      case Location::Kind::output: return outputs_[location.at];
      case Location::Kind::arena: return arena_ + location.at;
      case Location::Kind::constant: return const_cast<char*>(constants_) + location.at;
      case Location::Kind::kept: return kept_.data ? static_cast<char*>(kept_.data) + location.at : nullptr;
      case Location::Kind::host:
      case Location::Kind::none: break;
    }
    return nullptr;
  }
  // Of what a step has booked to keep.
  KeptFactor kept(const Location& location) const { return {at(location), kept_.made}; }
  // The addresses that a step has booked by that number.
  void** addresses(size_t first) const { return memory.addresses.data() + first; }

  Memory& memory;

 private:
  const void* const* inputs_;
  void* const* outputs_;
  char* arena_;
  const char* constants_;
  KeptFactor kept_;
};

// What a plan keeps from run to run, for a caller that runs it several times with some inputs the same.
struct KeptMemory {
  std::vector<bool> steady;  // by input of the trace: the same in all runs
  size_t bytes = 0;          // that steps keep
};

// What a step may ask for when it is made.
class StepSite {
 public:
  StepSite(const Trace& trace, const PlanOptions& options, PlacedNode placed, Placement& placement, KeptMemory& kept,
           size_t& addresses)
      : trace(trace),
        options(options),
        placed(std::move(placed)),
        launch_(this->placed.launch),
        placement_(placement),
        kept_(kept),
        addresses_(addresses) {}

  // So many bytes of the arena while the step runs. The location must not move while the plan is made, and is complete
  // when a run begins.
  void book(Location& location, size_t bytes) {
    if (bytes > 0) placement_.book(location, bytes, launch_);
  }
  // Books what the kernel of the step's op keeps of its input 1, where that is the same in all runs. Elsewhere the
  // location stays none.
  void book_kept(Location& location, const PlacedNode& step);
  // Room for so many addresses in each run; returns their number.
  size_t book_addresses(size_t count) { return std::exchange(addresses_, addresses_ + count); }

  const Trace& trace;
  const PlanOptions& options;
  PlacedNode placed;  // the step takes it

 private:
  size_t launch_;
  Placement& placement_;
  KeptMemory& kept_;
  size_t& addresses_;
};

// Of a node, the same for all its runs, which may be under way at once on several threads.
class Step {
 public:
  explicit Step(StepSite& site) : placed_(std::move(site.placed)) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  const Node& node() const { return *placed_.node; }
  const PlacedNode& placed() const { return placed_; }
  // Called once the arena is laid out.
  void complete(const Placement& placement) { placement.complete(placed_); }

  // Computes the node, on any threads.
  virtual void run(const StepRun& run) const = 0;

  // Of a kind that joins others in one launch: in place of run(), prepare(), then run_piece() for each piece in any
  // order on any threads, beside pieces of other steps, then finish().
  virtual int64_t pieces() const { return 0; }
  virtual void prepare(const StepRun&) const {}
  virtual void run_piece(const StepRun&, int64_t) const {}
  virtual void finish(const StepRun&) const {}

  // An output may be made in the memory of an input if last_read(input) <= first_write(output), counted from 0 in steps
  // of whatever the work has. kAlways: the input is read after any of its elements may have been overwritten. -1: the
  // output is written before anything is read.
  static constexpr int kAlways = std::numeric_limits<int>::max();
  virtual int last_read(size_t) const { return kAlways; }
  virtual int first_write(size_t) const { return 0; }

  // Bytes that each thread that takes part needs beside the arena.
  virtual size_t thread_bytes() const { return 0; }

 protected:
  // Writes the addresses of all inputs, then those of all outputs.
  void bind(const StepRun& run, void** to) const {
    for (const Location& input : placed_.inputs) *to++ = run.at(input);
    for (const Location& output : placed_.outputs) *to++ = run.at(output);
  }

 private:
  PlacedNode placed_;
};

// Calls the kernel of the node's op, or runs its rule element by element. What it finds wrong with values (an index, a
// division by zero) is told at the user's call.
void call_kernel(const Node& node, const KernelCall& call);

// Bytes that the kernel of the node's op needs for inputs of these specs.
size_t workspace_bytes(const Node& node, std::span<const TensorSpec> inputs);

struct StepKind {
  std::string_view name;
  // Whether a node that runs is of this kind; each is of one kind alone.
  bool (*takes)(const Trace& trace, const Node& node);
  std::unique_ptr<Step> (*make)(StepSite& site);
  bool joins = false;  // those in a row that need nothing of each other run in one launch
};

template <class Kind>
std::unique_ptr<Step> make_step(StepSite& site) {
  return std::make_unique<Kind>(site);
}

class StepKinds {
 public:
  void add(const StepKind& kind) { kinds_.push_back(kind); }
  const std::vector<StepKind>& all() const { return kinds_; }

 private:
  std::vector<StepKind> kinds_;
};

// Every kind, in the order of their names. Filled on first use by the generated define_all_steps.
const StepKinds& step_kinds();
void define_all_steps(StepKinds& kinds);
const StepKind& kind_of(const Trace& trace, const Node& node);

}  // namespace retrace
