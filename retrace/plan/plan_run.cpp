// Running a plan.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/all_reduce/exchange.h"
#include "retrace/ops/pointwise.h"
#include "retrace/plan/arena.h"
#include "retrace/plan/plan.h"

namespace retrace {
namespace {

// A chain that makes a reduction's input.
class ChainSource : public TileSource {
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

// What a run needs beside the arena; kept, so that only a thread's first run allocates.
struct RunMemory {
  std::vector<void*> pointers;
  std::vector<KernelInput> inputs;
  std::vector<KernelOutput> outputs;
};

thread_local std::vector<double>* timed = nullptr;

// Plans that this thread is running: a chain of samples runs one inside of another.
thread_local size_t depth = 0;

class DepthScope {
 public:
  DepthScope() { ensure(++depth <= kMostDepth, "chains of samples do not nest"); }
  ~DepthScope() { --depth; }
};

// A run that ends with an error leaves no exchange between workers behind that still writes into its arena.
class AbandonExchanges {
 public:
  ~AbandonExchanges() {
    if (std::uncaught_exceptions() > before_) abandon_exchanges("a kernel failed while an exchange was under way");
  }

 private:
  int before_ = std::uncaught_exceptions();
};

RunMemory& run_memory() {
  thread_local RunMemory memory[kMostDepth];
  return memory[depth - 1];
}

}  // namespace

class Plan::Run {
 public:
  Run(const Plan& plan, const void* const* inputs, void* const* outputs)
      : plan_(plan),
        inputs_(inputs),
        outputs_(outputs),
        arena_(static_cast<char*>(arena_memory(depth - 1, plan.arena_bytes_))),
        memory_(run_memory()) {
    memory_.pointers.resize(std::max(memory_.pointers.size(), plan.pointer_count_));
  }

  void launch(const Launch& launch) {
    for (size_t i = launch.first; i < launch.first + launch.count; ++i) resolve(plan_.steps_[i]);
    run_steps(launch);
    for (size_t i = launch.first; i < launch.first + launch.count; ++i) finish_reductions(plan_.steps_[i]);
  }

  void copy(const Copy& copy) {
    if (copy.bytes) std::memcpy(outputs_[copy.output], at(copy.from), copy.bytes);
  }

 private:
  void run_steps(const Launch& launch) {
    if (!plan_.steps_[launch.first].chain) return kernel(plan_.steps_[launch.first]);
    run_pieces(launch.pieces, [&](int64_t piece) {
      const Step* step = &plan_.steps_[launch.first];
      int64_t count = step->output_specs[0]->count();
      for (; piece >= chain_pieces(count); count = step->output_specs[0]->count()) {
        piece -= chain_pieces(count);
        ++step;
      }
      chain(*step, piece * kChainPiece, std::min(count, (piece + 1) * kChainPiece));
    });
  }

  void* at(const Location& location) const {
    switch (location.kind) {
      case Location::Kind::input: return const_cast<void*>(inputs_[location.at]);
      case Location::Kind::output: return outputs_[location.at];
      case Location::Kind::arena: return arena_ + location.at;
      case Location::Kind::constant: return const_cast<char*>(plan_.constants_.data()) + location.at;
      case Location::Kind::host:
      case Location::Kind::none: break;
    }
    return nullptr;
  }
  float* patterns(const Step& step) const { return static_cast<float*>(at(step.patterns)); }

  // A step's pointers: its own inputs, the raw result of a contraction with an epilogue, the other inputs, the outputs.
  // So the inputs of an epilogue, which starts from the raw result, are in a row.
  void** pointers(const Step& step) const { return memory_.pointers.data() + step.pointers; }
  void** outputs(const Step& step) const { return pointers(step) + step.inputs.size() + 1; }
  const void** program_inputs(const Step& step) const {
    return const_cast<const void**>(pointers(step)) + (step.raw_spec ? step.own_inputs : 0);
  }
  void resolve(const Step& step) {
    void** to = pointers(step);
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.raw_spec && i == step.own_inputs) *to++ = at(step.raw);
      *to++ = at(step.inputs[i]);
    }
    if (step.raw_spec && step.inputs.size() == step.own_inputs) *to++ = at(step.raw);
    to = outputs(step);
    for (const auto& output : step.outputs) *to++ = at(output);
    if (step.program) step.program->prepare(program_inputs(step), patterns(step));
    for (const auto& reduction : step.reductions) {
      const size_t body_inputs = step.node->body->inputs.size();
      for (size_t i = 0; i < reduction.inputs.size(); ++i) {
        const size_t from = reduction.inputs[i];
        memory_.pointers[reduction.pointers + i] =
            from < body_inputs ? const_cast<void*>(program_inputs(step)[from]) : outputs(step)[from - body_inputs];
      }
      reduction.work.prepare(reduction_inputs(reduction), at(reduction.workspace));
    }
  }
  const void* const* reduction_inputs(const Reduction& reduction) const {
    return memory_.pointers.data() + reduction.pointers;
  }

  // Elements begin..end-1 of a chain or an epilogue, and what is summed of them.
  void chain(const Step& step, int64_t begin, int64_t end) const {
    step.program->run(begin, end, program_inputs(step), outputs(step), patterns(step));
    for (const auto& reduction : step.reductions)
      reduction.work.add(begin, end, reduction_inputs(reduction), at(reduction.workspace));
  }
  void finish_reductions(const Step& step) const {
    if (step.reductions.empty()) return;
    run_pieces(static_cast<int64_t>(step.reductions.size()), [&](int64_t i) {
      const auto& reduction = step.reductions[static_cast<size_t>(i)];
      reduction.work.finish(reduction_inputs(reduction), outputs(step) + reduction.first_output,
                            at(reduction.workspace));
    });
  }

  // What a kernel finds wrong with values (an index, a division by zero) is told at the user's call.
  void kernel(const Step& step) try { call_kernel(step); } catch (Error& error) {
    if (!error.has_place()) error.where(step.node->place);
    throw;
  }

  void call_kernel(const Step& step) {
    if (step.samples) return step.samples->run(program_inputs(step), outputs(step), at(step.workspace));
    if (step.rows) return step.rows->run(program_inputs(step), outputs(step), at(step.workspace));
    const Op& op = *step.node->op;
    auto& in = memory_.inputs;
    auto& out = memory_.outputs;
    in.clear(), out.clear();
    for (size_t i = 0; i < step.own_inputs; ++i) in.push_back({pointers(step)[i], step.input_specs[i]});
    for (size_t i = 0; i < step.outputs.size(); ++i) out.push_back({outputs(step)[i], step.output_specs[i]});
    KernelCall call{step.node->attributes, in, out, at(step.workspace)};
    if (step.raw_spec) {
      const auto epilogue = [&](int64_t begin, int64_t end) { chain(step, begin, end); };
      const FunctionRef<void(int64_t, int64_t)> done(epilogue);
      const KernelOutput raw{at(step.raw), step.raw_spec};
      call.outputs = std::span(&raw, 1);
      call.done = &done;
      op.kernel(call);
    } else if (step.program) {
      const ChainSource source(*step.program, program_inputs(step), patterns(step));
      const KernelInput made{nullptr, &step.made_spec};
      call.inputs = std::span(&made, 1);
      call.source = &source;
      op.kernel(call);
    } else if (op.kernel) {
      op.kernel(call);
    } else {
      run_pointwise(op, call);
    }
  }

  const Plan& plan_;
  const void* const* inputs_;
  void* const* outputs_;
  char* arena_;
  RunMemory& memory_;
};

void Plan::run(const void* const* inputs, void* const* outputs) const {
  const AbandonExchanges abandon;
  if (cuda_) return cuda_->run(inputs, outputs, timed);
  const FloatingPointScope environment;
  const ParallelRegion region;
  const DepthScope running;
  auto* const timed = depth == 1 ? retrace::timed : nullptr;
  Run run(*this, inputs, outputs);
  if (timed) timed->resize(launches_.size());
  for (size_t i = 0; i < launches_.size(); ++i) {
    if (!timed) {
      run.launch(launches_[i]);
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    run.launch(launches_[i]);
    (*timed)[i] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  for (const auto& each : copies_) run.copy(each);
}

void Plan::time_kernel_calls(std::vector<double>* seconds) { timed = seconds; }

}  // namespace retrace
