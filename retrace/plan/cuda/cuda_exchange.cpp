#include "retrace/plan/cuda/cuda_exchange.h"

#include <algorithm>

#include "retrace/distributed/courier.h"

namespace retrace {
namespace {

// One graph for the launches up to each cut, and one for those behind the last; none where there are no launches.
class CutGraph final : public cuda::Graph {
 public:
  CutGraph(cuda::Runtime& runtime, std::span<const cuda::Launch> launches, const cuda::Edges& edges,
           std::vector<size_t> cuts, std::function<void(size_t)> work)
      : ends_(std::move(cuts)), cuts_(ends_.size()), work_(std::move(work)) {
    ends_.push_back(launches.size());
    for (size_t part = 0; part < ends_.size(); ++part) {
      const size_t first = first_of(part), count = ends_[part] - first;
      cuda::Edges own(edges.begin() + static_cast<std::ptrdiff_t>(first),
                      edges.begin() + static_cast<std::ptrdiff_t>(ends_[part]));
      for (auto& before : own)
        for (size_t& launch : before) launch -= first;
      graphs_.push_back(count ? runtime.make_graph(launches.subspan(first, count), own) : nullptr);
    }
  }

  void set_arguments(size_t i, std::span<const std::byte> arguments) override {
    const auto part = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
    ensure(part < ends_.size(), "a graph has the launch whose arguments are set");
    graphs_[part]->set_arguments(i - first_of(part), arguments);
  }
  void run() override {
    for (size_t part = 0; part < graphs_.size(); ++part) {
      if (graphs_[part]) graphs_[part]->run();
      if (part < cuts_) work_(part);
    }
  }

 private:
  size_t first_of(size_t part) const { return part ? ends_[part - 1] : 0; }

  std::vector<size_t> ends_;  // the first launch behind each part
  size_t cuts_;
  std::function<void(size_t)> work_;
  std::vector<std::unique_ptr<cuda::Graph>> graphs_;
};

size_t reads_of(const Node& node) {
  return node.op->reads < 0 ? node.inputs.size() : static_cast<size_t>(node.op->reads);
}

}  // namespace

// Whether no launch makes the value, but an exchange for its own use.
bool CudaExchanges::is_staging(ValueId id) const {
  const Node* made = trace_.producer(id);
  return made && made->op->stays_on_host;
}

void* CudaExchanges::memory_of(ValueId id, Device& device) {
  auto& buffer = memory_[{id, device.id()}];
  if (!buffer) buffer = device.allocate(trace_.spec(id).bytes());
  return buffer->data();
}

size_t CudaExchanges::add(const Node& node) {
  steps_.push_back({&node, {}});
  return steps_.size() - 1;
}

CudaExchanges::Places CudaExchanges::on_host(const Node& node) {
  Places places;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    places.inputs.push_back(
        {i < reads_of(node) ? memory_of(node.inputs[i], cpu_device()) : nullptr, &trace_.spec(node.inputs[i])});
  for (ValueId id = node.first_output; id < node.first_output + node.output_count; ++id)
    places.outputs.push_back({memory_of(id, cpu_device()), &trace_.spec(id)});
  return places;
}

CudaExchanges::Places CudaExchanges::on_device(const Node& node, std::span<const void* const> inputs,
                                               std::span<void* const> outputs) {
  Places places;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    const void* data = i < reads_of(node) && is_staging(id) ? memory_of(id, device_) : inputs[i];
    places.inputs.push_back({i < reads_of(node) ? data : nullptr, &trace_.spec(id)});
  }
  for (int i = 0; i < node.output_count; ++i) {
    const ValueId id = node.first_output + i;
    void* const data = is_staging(id) ? memory_of(id, device_) : outputs[static_cast<size_t>(i)];
    places.outputs.push_back({data, &trace_.spec(id)});
  }
  return places;
}

void CudaExchanges::call(const Node& node, const Places& places) {
  try {
    node.op->kernel({node.attributes, places.inputs, places.outputs});
  } catch (Error& error) {
    if (!error.has_place()) error.where(node.place);
    throw;
  }
}

void CudaExchanges::run_on_host(Step& step, std::span<const void* const> inputs, std::span<void* const> outputs) {
  const Node& node = *step.node;
  if (!step.host) step.host = on_host(node);
  const Places& places = *step.host;
  bool copied = false;
  for (size_t i = 0; i < reads_of(node); ++i) {
    if (is_staging(node.inputs[i])) continue;
    device_.runtime().copy_to_host(const_cast<void*>(places.inputs[i].data), inputs[i], places.inputs[i].spec->bytes());
    copied = true;
  }
  if (copied) device_.value_errors().check();
  call(node, places);
  for (size_t i = 0; !node.op->stays_on_host && i < outputs.size(); ++i)
    device_.runtime().copy_from_host(outputs[i], places.outputs[i].data, places.outputs[i].spec->bytes());
}

void CudaExchanges::run(size_t number, std::span<const void* const> inputs, std::span<void* const> outputs) {
  Courier* const courier = current_courier();
  DeviceLink* const link = courier ? courier->link(&device_.runtime()) : nullptr;
  if (!link) return run_on_host(steps_[number], inputs, outputs);
  device_.value_errors().check();
  const LinkScope scope(link);
  const Node& node = *steps_[number].node;
  call(node, on_device(node, inputs, outputs));
}

std::unique_ptr<cuda::Graph> make_cut_graph(cuda::Runtime& runtime, std::span<const cuda::Launch> launches,
                                            const cuda::Edges& edges, std::vector<size_t> cuts,
                                            std::function<void(size_t)> work) {
  return std::make_unique<CutGraph>(runtime, launches, edges, std::move(cuts), std::move(work));
}

}  // namespace retrace
