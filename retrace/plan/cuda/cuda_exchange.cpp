#include "retrace/plan/cuda/cuda_exchange.h"

#include <algorithm>

#include "retrace/ops/all_reduce/all_reduce.h"

namespace retrace {
namespace {

// One graph for the launches up to each cut, and one for those behind the last; none where there are no launches.
class CutGraph final : public cuda::Graph {
 public:
  CutGraph(cuda::Runtime& runtime, std::span<const cuda::Launch> launches, std::vector<size_t> cuts,
           std::function<void(size_t)> work)
      : ends_(std::move(cuts)), cuts_(ends_.size()), work_(std::move(work)) {
    ends_.push_back(launches.size());
    for (size_t part = 0; part < ends_.size(); ++part) {
      const size_t first = first_of(part), count = ends_[part] - first;
      graphs_.push_back(count ? runtime.make_graph(launches.subspan(first, count)) : nullptr);
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

bool CudaExchanges::has(const Node& node) {
  return node.op == &exchange_start_op() || node.op == &exchange_finish_op();
}
bool CudaExchanges::keeps_result(const Node& node) { return node.op == &exchange_start_op(); }

void* CudaExchanges::memory_of(ValueId id) {
  auto& buffer = memory_[id];
  if (!buffer) buffer = cpu_device().allocate(trace_.values[static_cast<size_t>(id)].bytes());
  return buffer->data();
}

size_t CudaExchanges::add(const Node& node) {
  Step step{&node, {}, {}};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    // Of the first partials a finish needs the shapes alone.
    const bool read = keeps_result(node) || i == 0;
    step.inputs.push_back(
        {read ? memory_of(node.inputs[i]) : nullptr, &trace_.values[static_cast<size_t>(node.inputs[i])]});
  }
  for (int i = 0; i < node.output_count; ++i)
    step.outputs.push_back(
        {memory_of(node.first_output + i), &trace_.values[static_cast<size_t>(node.first_output + i)]});
  steps_.push_back(std::move(step));
  return steps_.size() - 1;
}

void CudaExchanges::run(size_t number, std::span<const void* const> inputs, std::span<void* const> outputs) {
  const Step& step = steps_[number];
  const Node& node = *step.node;
  const bool starts = keeps_result(node);
  // The last argument of a start may be the exchange before it, which lies on the host already.
  const size_t given = starts ? inputs.size() - static_cast<size_t>(node.attributes.integer("after")) : 0;
  for (size_t i = 0; i < given; ++i)
    device_.runtime().copy_to_host(const_cast<void*>(step.inputs[i].data), inputs[i], step.inputs[i].spec->bytes());
  if (starts) device_.value_errors().check();
  try {
    node.op->kernel({node.attributes, step.inputs, step.outputs});
  } catch (Error& error) {
    if (!error.has_place()) error.where(node.place);
    throw;
  }
  for (size_t i = 0; !starts && i < outputs.size(); ++i)
    device_.runtime().copy_from_host(outputs[i], step.outputs[i].data, step.outputs[i].spec->bytes());
}

std::unique_ptr<cuda::Graph> make_cut_graph(cuda::Runtime& runtime, std::span<const cuda::Launch> launches,
                                            std::vector<size_t> cuts, std::function<void(size_t)> work) {
  return std::make_unique<CutGraph>(runtime, launches, std::move(cuts), std::move(work));
}

}  // namespace retrace
