#include "retrace/plan/cuda/cuda_exchange.h"

#include <algorithm>

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

}  // namespace

void* CudaExchanges::memory_of(ValueId id) {
  auto& buffer = memory_[id];
  if (!buffer) buffer = cpu_device().allocate(trace_.spec(id).bytes());
  return buffer->data();
}

size_t CudaExchanges::add(const Node& node) {
  const auto spec = [&](ValueId id) { return &trace_.spec(id); };
  const auto lies_on_host = [&](ValueId id) {
    const Node* made = trace_.producer(id);
    return made && made->op->stays_on_host;
  };
  Step step{&node, {}, {}, {}};
  const size_t reads = node.op->reads < 0 ? node.inputs.size() : static_cast<size_t>(node.op->reads);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    step.inputs.push_back({i < reads ? memory_of(id) : nullptr, spec(id)});
    if (i < reads && !lies_on_host(id)) step.copied.push_back(i);
  }
  for (ValueId id = node.first_output; id < node.first_output + node.output_count; ++id)
    step.outputs.push_back({memory_of(id), spec(id)});
  steps_.push_back(std::move(step));
  return steps_.size() - 1;
}

void CudaExchanges::run(size_t number, std::span<const void* const> inputs, std::span<void* const> outputs) {
  const Step& step = steps_[number];
  const Node& node = *step.node;
  for (size_t i : step.copied)
    device_.runtime().copy_to_host(const_cast<void*>(step.inputs[i].data), inputs[i], step.inputs[i].spec->bytes());
  if (!step.copied.empty()) device_.value_errors().check();
  try {
    node.op->kernel({node.attributes, step.inputs, step.outputs});
  } catch (Error& error) {
    if (!error.has_place()) error.where(node.place);
    throw;
  }
  for (size_t i = 0; !node.op->stays_on_host && i < outputs.size(); ++i)
    device_.runtime().copy_from_host(outputs[i], step.outputs[i].data, step.outputs[i].spec->bytes());
}

std::unique_ptr<cuda::Graph> make_cut_graph(cuda::Runtime& runtime, std::span<const cuda::Launch> launches,
                                            const cuda::Edges& edges, std::vector<size_t> cuts,
                                            std::function<void(size_t)> work) {
  return std::make_unique<CutGraph>(runtime, launches, edges, std::move(cuts), std::move(work));
}

}  // namespace retrace
