#pragma once
// A plan on a CUDA device: kernel launches over one arena of device memory, replayed as a graph.

#include <memory>
#include <mutex>
#include <vector>

#include "retrace/device/cuda/cuda_device.h"
#include "retrace/device/cuda/launches.h"
#include "retrace/plan/cuda/cuda_chain.h"
#include "retrace/plan/cuda/cuda_exchange.h"
#include "retrace/plan/device_plan.h"
#include "retrace/plan/layout/placement.h"
#include "retrace/plan/options.h"
#include "retrace/trace/op.h"

namespace retrace {

class CudaPlan final : public DevicePlan {
 public:
  // Of a trace that has been through the passes. Error(unavailable) names the first op that has no CUDA kernel.
  CudaPlan(const Trace& trace, DeviceId device, const PlanOptions& options);
  ~CudaPlan() override;

  // Addresses on the device; of inputs of the host (numbers, keys) on the host. Returns when the work is given to the
  // device; with `seconds` when the work is done, and what each launch took is added to it (nothing for a plan with
  // exchanges between workers).
  void run(const void* const* inputs, void* const* outputs, std::vector<double>* seconds) override;

  std::vector<int> find_donors() const override;

  // For tools: called with every source of a plan before it is compiled. Null ends that.
  static void watch_sources(void (*watch)(const std::string& source));

  size_t arena_bytes() const override { return arena_bytes_; }
  size_t kernel_calls() const override { return launches_.size(); }
  size_t changed_launches() const override { return changed_launches_; }
  std::vector<PlannedCall> calls() const override;

 private:
  struct Step : PlacedNode {
    explicit Step(PlacedNode placed) : PlacedNode(std::move(placed)) {}
    Location workspace;
    size_t workspace_bytes = 0;
    std::unique_ptr<const cuda::ValueErrors::Source> errors;  // of a step that reports them
    bool takes_four = false;                                  // of a chain: cuda_chain.h
    int64_t count() const { return output_specs[0]->count(); }
  };
  // What one node launches (an exchange: nothing), or one kernel of chains that need nothing of each other.
  struct Call {
    std::vector<const Step*> steps;              // of chains: those of one name in a row
    std::shared_ptr<const cuda::Kernel> kernel;  // of chains, and with an epilogue
    std::vector<Location> moving = {};           // inputs and outputs of a run, which may lie elsewhere in the next
    std::vector<const void*> addresses = {};     // of those, as the launches have them
    size_t number = 0;                           // of calls_
    size_t first_launch = 0, launches = 0;
  };

  void lay_out(bool reuse);
  void find_sources_of_errors();
  void find_calls();
  void compile_epilogues();
  void compile_chains();
  int own_donor(const Step& step, size_t output, FunctionRef<bool(size_t input)> free) const;
  void* at(const Location& location) const;
  unsigned* counters(const Call& call) const;
  cuda::Launch launch_of_chains(const Call& call) const;
  std::vector<cuda::Launch> launches_of(const Call& call, std::span<const cuda::Launch> earlier) const;
  bool has_moved(const Call& call) const;
  void note_addresses(Call& call);
  void build();
  bool change(Call& call);
  cuda::Edges find_edges() const;
  std::unique_ptr<cuda::Graph> make_graph();
  void run_timed(std::vector<double>& seconds);
  void run_exchange(size_t number);
  void refresh();
  void send_host_values(const void* const* inputs);

  bool take_arena();

  const Trace& trace_;
  const DeviceId device_;
  const Mode mode_;
  cuda::Runtime& runtime_;
  std::vector<Step> steps_;
  std::vector<Call> calls_;
  std::vector<ResultCopy> copies_;
  std::vector<char> constants_, host_values_;  // a slot each
  std::vector<size_t> host_inputs_;            // of host_values_
  size_t arena_bytes_ = 0;
  char* arena_ = nullptr;           // of the thread of the last run: its plans on the device share one
  std::shared_ptr<Buffer> memory_;  // constants, host values, counters
  std::mutex mutex_;                // one run at a time
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<int> donors_;  // find_donors(); empty if nothing is overwritten
  std::vector<cuda::Launch> launches_;
  std::unique_ptr<cuda::Graph> graph_;
  size_t changed_launches_ = 0;
  CudaExchanges exchanges_;
  std::vector<const Step*> exchange_steps_;
  std::vector<size_t> cuts_;  // the launch before which each of them stands
};

}  // namespace retrace
