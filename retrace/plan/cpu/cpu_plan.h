#pragma once
// A plan on the CPU: steps over one arena.

#include <memory>

#include "retrace/plan/cpu/step.h"
#include "retrace/plan/device_plan.h"

namespace retrace {

class CpuPlan final : public DevicePlan {
 public:
  // `steady`, by input of the trace: those that run_again() finds the same in each run.
  CpuPlan(const Trace& trace, const PlanOptions& options, std::vector<bool> steady = {});

  void run(const void* const* inputs, void* const* outputs, std::vector<double>* seconds) override {
    run_all(inputs, outputs, seconds, {});
  }
  // One of several runs with the same steady inputs; `kept` has kept_bytes() bytes, made where it is not the first.
  void run_again(const void* const* inputs, void* const* outputs, KeptFactor kept) {
    run_all(inputs, outputs, nullptr, kept);
  }
  size_t kept_bytes() const { return kept_.bytes; }
  std::vector<int> find_donors() const override;
  size_t arena_bytes() const override { return arena_bytes_; }
  size_t thread_bytes() const override;
  size_t kernel_calls() const override { return launches_.size(); }
  std::vector<PlannedCall> calls() const override;

 private:
  // Steps first..first+count-1 run at the same time.
  struct Launch {
    size_t first, count;
    int64_t pieces;               // of all its steps, if there are several
    std::vector<uint32_t> order;  // of these, counted from one step to the next; empty: as they are counted
  };

  void run_all(const void* const* inputs, void* const* outputs, std::vector<double>* seconds, KeptFactor kept);
  void add_launches();
  bool reads_again(const Launch& launch) const;
  std::vector<uint32_t> side_by_side(const Launch& launch) const;
  void run_launch(const Launch& launch, const StepRun& run) const;
  static int own_donor(const Step& step, size_t output, FunctionRef<bool(size_t input)> free);

  const Trace& trace_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<Launch> launches_;
  std::vector<ResultCopy> copies_;
  std::vector<char> constants_;
  KeptMemory kept_;
  size_t arena_bytes_ = 0, addresses_ = 0;
};

}  // namespace retrace
