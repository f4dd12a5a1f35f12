#include <algorithm>
#include <array>
#include <utility>

#include "retrace/base/error.h"
#include "retrace/device/cuda/driver/driver_kernels.h"

namespace retrace::cuda {
namespace {

// A launch as the driver takes it; refers to the launch.
class LaunchParameters {
 public:
  LaunchParameters(const Driver& driver, const Launch& launch) : bytes_(launch.arguments.size()) {
    ensure(launch.kernel != nullptr, "a launch has a kernel");
    const auto& kernel = static_cast<const DriverKernel&>(*launch.kernel);
    kernel.allow_shared(driver, launch.shared_bytes);
    extra_ = {kLaunchBuffer, const_cast<std::byte*>(launch.arguments.data()), kLaunchBufferSize, &bytes_, kLaunchEnd};
    node_.function = kernel.function();
    node_.blocks_x = launch.blocks.x, node_.blocks_y = launch.blocks.y, node_.blocks_z = launch.blocks.z;
    node_.threads_x = launch.threads.x, node_.threads_y = launch.threads.y, node_.threads_z = launch.threads.z;
    node_.shared_bytes = static_cast<unsigned>(launch.shared_bytes);
    node_.extra = extra_.data();
  }
  LaunchParameters(const LaunchParameters&) = delete;
  const KernelNodeParameters& node() const { return node_; }

 private:
  size_t bytes_;
  std::array<void*, 5> extra_{};
  KernelNodeParameters node_;
};

// One node a launch. The graph stays beside its executable form, whose nodes it names.
class DriverGraph final : public Graph {
 public:
  DriverGraph(std::shared_ptr<const DriverContext> context, std::span<const Launch> launches, const Edges& edges)
      : context_(std::move(context)), launches_(launches.begin(), launches.end()) {
    ensure(edges.size() == launches.size(), "a graph has the edges of all its launches");
    try {
      if (!build_programmatic(edges)) build(edges);
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~DriverGraph() override {
    context_->clean_up([&] { destroy(); });
  }

  void set_arguments(size_t i, std::span<const std::byte> arguments) override {
    ensure(i < launches_.size(), "a graph has the launch whose arguments are set");
    auto& held = launches_[i].arguments;
    ensure(arguments.size() == held.size(), "other arguments of a launch have the size of the first");
    if (std::ranges::equal(arguments, held)) return;
    std::ranges::copy(arguments, held.begin());
    const ContextScope scope(*context_);
    const LaunchParameters parameters(driver(), launches_[i]);
    driver().cuGraphExecKernelNodeSetParams_v2(executable_, nodes_[i], &parameters.node());
  }

  void run() override {
    const ContextScope scope(*context_);
    driver().cuGraphLaunch(executable_, context_->stream());
  }

 private:
  const Driver& driver() const { return context_->driver(); }

  void build(const Edges& edges) {
    driver().cuGraphCreate(&graph_, 0u);
    for (size_t i = 0; i < launches_.size(); ++i) add_node(i, edges[i]);
    driver().cuGraphInstantiateWithFlags(&executable_, graph_, 0ull);
  }
  // A launch that waits for one other launch alone may begin before that one has ended, if its kernel waits itself.
  // False, and nothing is built, where no launch does, or the driver cannot.
  bool build_programmatic(const Edges& edges) {
    const auto waits = [&](size_t i) {
      return edges[i].size() == 1 && static_cast<const DriverKernel&>(*launches_[i].kernel).waits();
    };
    bool any = false;
    for (size_t i = 0; i < launches_.size(); ++i) any = any || waits(i);
    if (!any || !driver().cuGraphAddDependencies_v2) return false;
    driver().cuGraphCreate(&graph_, 0u);
    CUresult failure = 0;
    for (size_t i = 0; i < launches_.size() && !failure; ++i) {
      add_node(i, waits(i) ? std::span<const size_t>() : edges[i]);
      if (!waits(i)) continue;
      const CUgraphNode from = nodes_[edges[i][0]], to = nodes_[i];
      failure = driver().cuGraphAddDependencies_v2.result(graph_, &from, &to, &kProgrammaticEdge, 1);
    }
    if (!failure) failure = driver().cuGraphInstantiateWithFlags.result(&executable_, graph_, 0);
    if (failure) destroy();
    return !failure;
  }
  void add_node(size_t i, std::span<const size_t> edges) {
    const LaunchParameters parameters(driver(), launches_[i]);
    std::vector<CUgraphNode> before;
    for (const size_t edge : edges) before.push_back(nodes_.at(edge));
    CUgraphNode node = nullptr;
    driver().cuGraphAddKernelNode_v2(&node, graph_, before.data(), before.size(), &parameters.node());
    nodes_.push_back(node);
  }

  // The driver frees a graph that is still running when it has ended.
  void destroy() {
    if (executable_) driver().cuGraphExecDestroy.result(std::exchange(executable_, nullptr));
    if (graph_) driver().cuGraphDestroy.result(std::exchange(graph_, nullptr));
    nodes_.clear();
  }

  std::shared_ptr<const DriverContext> context_;
  std::vector<Launch> launches_;
  CUgraph graph_ = nullptr;
  std::vector<CUgraphNode> nodes_;
  CUgraphExec executable_ = nullptr;
};

// Launches between events that note the time: nodes of a graph, so that the host's own time is in none of them.
class TimedGraph {
 public:
  TimedGraph(const DriverContext& context, std::span<const Launch> launches) : context_(context) {
    try {
      build(launches);
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~TimedGraph() { destroy(); }
  TimedGraph(const TimedGraph&) = delete;

  std::vector<double> run() const {
    driver().cuGraphLaunch(executable_, context_.stream());
    context_.synchronize();
    std::vector<double> seconds;
    for (size_t i = 0; i + 1 < events_.size(); ++i) {
      float milliseconds = 0;
      driver().cuEventElapsedTime(&milliseconds, events_[i], events_[i + 1]);
      seconds.push_back(static_cast<double>(milliseconds) * 1e-3);
    }
    return seconds;
  }

 private:
  const Driver& driver() const { return context_.driver(); }

  void build(std::span<const Launch> launches) {
    driver().cuGraphCreate(&graph_, 0u);
    CUgraphNode last = nullptr;
    note_time(last);
    for (const auto& launch : launches) {
      const LaunchParameters parameters(driver(), launch);
      const CUgraphNode before = last;
      driver().cuGraphAddKernelNode_v2(&last, graph_, &before, size_t{1}, &parameters.node());
      note_time(last);
    }
    driver().cuGraphInstantiateWithFlags(&executable_, graph_, 0ull);
  }
  // Behind the node `last`, which the new one then is.
  void note_time(CUgraphNode& last) {
    CUevent& event = events_.emplace_back();
    driver().cuEventCreate(&event, kEventDefault);
    const CUgraphNode before = last;
    driver().cuGraphAddEventRecordNode(&last, graph_, &before, size_t{before != nullptr}, event);
  }
  void destroy() {
    if (executable_) driver().cuGraphExecDestroy.result(executable_);
    if (graph_) driver().cuGraphDestroy.result(graph_);
    for (CUevent event : events_)
      if (event) driver().cuEventDestroy_v2.result(event);
  }

  const DriverContext& context_;
  CUgraph graph_ = nullptr;
  std::vector<CUevent> events_;
  CUgraphExec executable_ = nullptr;
};

}  // namespace

std::vector<double> time_launches(const DriverContext& context, std::span<const Launch> launches) {
  return TimedGraph(context, launches).run();
}

void launch(const DriverContext& context, const Launch& launch, CUstream stream) {
  const LaunchParameters parameters(context.driver(), launch);
  const auto& node = parameters.node();
  context.driver().cuLaunchKernel(node.function, node.blocks_x, node.blocks_y, node.blocks_z, node.threads_x,
                                  node.threads_y, node.threads_z, node.shared_bytes, stream, nullptr, node.extra);
}

std::unique_ptr<Graph> make_graph(std::shared_ptr<const DriverContext> context, std::span<const Launch> launches,
                                  const Edges& edges) {
  return std::make_unique<DriverGraph>(std::move(context), launches, edges);
}

}  // namespace retrace::cuda
