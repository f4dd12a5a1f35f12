#pragma once
// A plan: a trace made ready to run many times on its device. Kernel calls over one arena; returned tensors have
// buffers of their own. make_plan() (retrace/plan/compile.h) makes it.

#include <memory>
#include <string>
#include <vector>

#include "retrace/plan/options.h"
#include "retrace/plan/pass.h"

namespace retrace {

class DevicePlan;
struct PlannedCall;

class Plan {
 public:
  // Of a trace that has been through the passes; `reports` tell of them.
  Plan(Trace planned, PlanOptions options, std::vector<PassReport> reports);
  ~Plan();

  // Runs on the trace's device. inputs[i] and outputs[i] are the bytes, there, of the recorded trace's inputs and
  // outputs.
  void run(const void* const* inputs, void* const* outputs) const;

  // For each output the input in whose memory it may be made (each input once), or -1: nothing reads the input after
  // its bytes are overwritten, and both have one size. Any of them, or none, may share memory in a run.
  const std::vector<int>& donors() const { return donors_; }

  const Trace& trace() const { return trace_; }  // after the passes
  const std::vector<PassReport>& reports() const { return reports_; }
  size_t arena_bytes() const;
  size_t kernel_calls() const;
  // On a CUDA device: the launches, of all runs together, that had to be changed because a run's inputs or outputs lay
  // elsewhere than those of the run before it.
  size_t changed_launches() const;
  // For people: passes, kernel calls, memory; the same with the trace after the passes.
  std::string summary() const;
  std::string text() const;
  // For people: each kernel call, what was fused into it with the user's places, and what the passes say of why it does
  // not make its arguments itself.
  std::string why() const;

  // For tools: while a list is set, runs on this thread add the seconds of each kernel call to it; on a CUDA device
  // they wait for it. Null ends that.
  static void time_kernel_calls(std::vector<double>* seconds);
  std::vector<PlannedCall> calls() const;  // retrace/plan/device_plan.h
  // The ops of a kernel call, what has been fused into them, and the type and shape of the first result.
  std::string kernel_call_name(size_t call) const;

 private:
  PlanOptions options_;
  std::vector<PassReport> reports_;
  Trace trace_;
  std::unique_ptr<DevicePlan> device_;
  std::vector<int> donors_;
  std::vector<void (*)(const char* why)> abandon_;  // what a run that fails calls: Op::abandon of its ops
};

}  // namespace retrace
