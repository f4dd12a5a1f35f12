#pragma once
// A plan on a CUDA device: kernel launches over one arena of device memory, replayed as a graph.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "retrace/device/cuda/cuda_device.h"
#include "retrace/device/cuda/launches.h"
#include "retrace/plan/cuda_chain.h"
#include "retrace/trace/trace.h"

namespace retrace {

class CudaPlan {
 public:
  // Of a trace that has been through the passes. Error(unavailable) names the first op that has no CUDA kernel.
  CudaPlan(const Trace& trace, DeviceId device);
  ~CudaPlan();

  // Addresses on the device; of inputs of the host (numbers, keys) on the host. Returns when the work is given to the
  // device.
  void run(const void* const* inputs, void* const* outputs);

  // For tools: called with the source of every plan's chains before it is compiled. Null ends that.
  static void watch_sources(void (*watch)(const std::string& source));

  size_t arena_bytes() const { return arena_bytes_; }
  size_t kernel_calls() const { return launches_.size(); }

 private:
  struct Location {
    enum class Kind { none, input, output, arena, constant, host } kind = Kind::none;
    size_t at = 0;  // index of the input or output; offset in the memory
  };
  struct Step {
    const Node* node;
    std::vector<Location> inputs, outputs;
    std::vector<const TensorSpec*> input_specs, output_specs;
    Location workspace;
    const cuda::Kernel* chain = nullptr;
    int64_t count = 0;  // of a chain
  };
  struct Copy {
    Location from;
    size_t output, bytes;
  };
  class Layout;

  void compile_chains();
  void take_memory();
  void* at(const Location& location) const;
  std::vector<cuda::Launch> build() const;
  void send_host_values(const void* const* inputs);
  void refresh();

  const Trace& trace_;
  cuda::Runtime& runtime_;
  std::vector<Step> steps_;
  std::vector<Copy> copies_;
  std::vector<char> constants_, host_values_;  // 64 bytes each
  std::vector<size_t> host_inputs_;            // of host_values_
  size_t arena_bytes_ = 0;
  std::shared_ptr<Buffer> memory_;  // arena, constants, host values
  std::mutex mutex_;                // one run at a time
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<cuda::Launch> launches_;
  std::unique_ptr<cuda::Graph> graph_;
};

}  // namespace retrace
