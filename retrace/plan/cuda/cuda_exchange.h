#pragma once
// Exchanges between workers in a plan on a CUDA device: steps of the host. The launches are cut before each of them. A
// start waits until the device has made what this worker gives, copies it to memory of the host and hands it to the
// courier, whose thread lets it travel while the device goes on; a finish waits for the courier and copies the results
// to the device. No device is held meanwhile, so workers may share one. Where the workers have a link between their
// devices (device_link.h), nothing is copied to the host: the courier gives the devices work, and nobody waits for
// them.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "retrace/device/cuda/cuda_device.h"
#include "retrace/trace/op.h"

namespace retrace {

class CudaExchanges {
 public:
  CudaExchanges(const Trace& trace, CudaDevice& device) : trace_(trace), device_(device) {}

  // A node whose op is computed on the host, in the order of the plan; returns the step's number.
  size_t add(const Node& node);
  // Addresses on the device of the node's inputs and outputs. Throws what the exchange throws, and the error of a
  // value that a kernel could not compute with before others are given what came of it.
  void run(size_t step, std::span<const void* const> inputs, std::span<void* const> outputs);

 private:
  // Where the values of a step lie: on the host always there, on the device in a run.
  struct Places {
    std::vector<KernelInput> inputs;
    std::vector<KernelOutput> outputs;
  };
  bool is_staging(ValueId id) const;
  void* memory_of(ValueId id, Device& device);
  struct Step {
    const Node* node;
    std::optional<Places> host;  // made when it is first needed
  };
  Places on_host(const Node& node);
  Places on_device(const Node& node, std::span<const void* const> inputs, std::span<void* const> outputs);
  void run_on_host(Step& step, std::span<const void* const> inputs, std::span<void* const> outputs);
  static void call(const Node& node, const Places& places);

  const Trace& trace_;
  CudaDevice& device_;
  std::map<std::pair<ValueId, DeviceId>, std::shared_ptr<Buffer>> memory_;
  std::vector<Step> steps_;
};

// Launches as graphs, cut before the launches of these numbers (ascending; the number of launches: behind all of them),
// where work(i) is called for cut i. No edge crosses a cut.
std::unique_ptr<cuda::Graph> make_cut_graph(cuda::Runtime& runtime, std::span<const cuda::Launch> launches,
                                            const cuda::Edges& edges, std::vector<size_t> cuts,
                                            std::function<void(size_t cut)> work);

}  // namespace retrace
