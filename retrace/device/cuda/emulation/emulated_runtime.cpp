// The emulated device as a runtime like any other.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "retrace/base/error.h"
#include "retrace/device/cuda/emulation/compiler.h"
#include "retrace/device/cuda/emulation/emulation.h"
#include "retrace/device/cuda/emulation/machine.h"

namespace retrace::cuda::emulation {
namespace {

struct FoundKernel final : Kernel {
  explicit FoundKernel(const EmulatedKernel& its_entry) : Kernel(its_entry.name), entry(its_entry) {}
  const EmulatedKernel& entry;
};

class EmulatedRuntime final : public Runtime {
 public:
  std::string model() const override { return "emulated CUDA device"; }
  bool is_emulated() const override { return true; }
  size_t memory() override { return region_.capacity(); }

  void* allocate(size_t bytes) override;
  void release(void* memory) override;
  void* allocate_on_host(size_t bytes) override;
  void copy_from_host(void* to, const void* from, size_t bytes) override;
  void copy_to_host(void* to, const void* from, size_t bytes) override;
  void copy(void* to, const void* from, size_t bytes) override;
  std::unique_ptr<HostCopy> start_copy_to_host(std::span<const DevicePart> parts) override;

  const Kernel& find_kernel(std::string_view name) override;
  std::vector<std::shared_ptr<const Kernel>> compile(const std::string& source,
                                                     std::span<const std::string> names) override;
  void launch(const Launch& launch) override { run(launch, nullptr); }
  std::vector<double> time(std::span<const Launch> launches) override;
  std::unique_ptr<Graph> make_graph(std::span<const Launch> launches, const Edges& edges) override;
  std::unique_ptr<Lane> make_lane() override;
  void synchronize() override {}

  // As launch(); what it uses is noted in `uses`, if that is not null.
  void run(const Launch& launch, LaunchUses* uses);
  std::string describe(size_t offset);
  void copy_from_device(void* to, const EmulatedRuntime& device, const void* from, size_t bytes);

 private:
  // The kernel of this name in the list that starts with `first`; null if there is none.
  const Kernel* find(const EmulatedKernel* first, std::string_view name);
  void must_hold(const void* memory, size_t bytes) const;

  EmulatedMachine& machine_ = EmulatedMachine::instance();
  Region region_;
  Cells cells_{region_.capacity()};
  std::map<const EmulatedKernel*, std::unique_ptr<FoundKernel>> kernels_;
  std::vector<std::unique_ptr<std::byte[]>> on_host_;
};

int64_t left_out = -1;
Edges newest;

// Launches in one of the orders that the edges allow. What they use is compared in the first run and after arguments
// have changed.
class EmulatedGraph final : public Graph {
 public:
  EmulatedGraph(EmulatedRuntime& runtime, std::span<const Launch> launches, const Edges& edges,
                std::vector<unsigned> wanted)
      : runtime_(runtime),
        launches_(launches.begin(), launches.end()),
        paths_(edges),
        order_(paths_.order(edges, wanted)) {}
  void set_arguments(size_t i, std::span<const std::byte> arguments) override {
    ensure(i < launches_.size() && arguments.size() == launches_[i].arguments.size(),
           "a launch keeps its arguments' size");
    launches_[i].arguments.assign(arguments.begin(), arguments.end());
    compared_ = false;
  }
  void run() override {
    std::vector<LaunchUses> uses(compared_ ? 0 : launches_.size());
    for (const size_t i : order_) runtime_.run(launches_[i], compared_ ? nullptr : &uses[i]);
    if (!std::exchange(compared_, true)) compare(uses);
  }

 private:
  void compare(const std::vector<LaunchUses>& uses) const {
    const auto found = find_conflict(uses, paths_);
    if (!found) return;
    throw Error(ErrorKind::internal, 797, "two launches of a graph use the same memory, and no edge orders them")
        .got(fmt::format("launch {} ({}) and launch {} ({}) at {}", found->first,
                         launches_[found->first].kernel->name(), found->second, launches_[found->second].kernel->name(),
                         runtime_.describe(found->offset)));
  }

  EmulatedRuntime& runtime_;
  std::vector<Launch> launches_;
  const GraphPaths paths_;
  const std::vector<size_t> order_;
  bool compared_ = false;
};

void* EmulatedRuntime::allocate(size_t bytes) {
  const std::lock_guard lock(machine_.mutex());
  return region_.allocate(bytes);
}

void EmulatedRuntime::release(void* memory) {
  const std::lock_guard lock(machine_.mutex());
  region_.release(memory);
}

void* EmulatedRuntime::allocate_on_host(size_t bytes) {
  const std::lock_guard lock(machine_.mutex());
  return on_host_.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
}

void EmulatedRuntime::must_hold(const void* memory, size_t bytes) const {
  if (bytes > 0 && !region_.holds(memory, bytes))
    throw Error(ErrorKind::internal, 995, "a copy outside of device memory")
        .got(fmt::format("{} bytes at {}", bytes, region_.describe(memory)));
}

void EmulatedRuntime::copy_from_host(void* to, const void* from, size_t bytes) {
  const std::lock_guard lock(machine_.mutex());
  must_hold(to, bytes);
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void EmulatedRuntime::copy_to_host(void* to, const void* from, size_t bytes) {
  const std::lock_guard lock(machine_.mutex());
  must_hold(from, bytes);
  if (bytes > 0) std::memcpy(to, from, bytes);
}

struct EmulatedHostCopy final : HostCopy {
  const void* wait() override { return bytes.data(); }
  std::vector<std::byte> bytes;
};

std::unique_ptr<HostCopy> EmulatedRuntime::start_copy_to_host(std::span<const DevicePart> parts) {
  auto copy = std::make_unique<EmulatedHostCopy>();
  for (const DevicePart& part : parts) {
    const size_t behind = copy->bytes.size();
    ensure(part.bytes % 4 == 0 && behind + part.bytes <= kMostLate, "a late copy has a few words");
    copy->bytes.resize(behind + part.bytes);
    copy_to_host(copy->bytes.data() + behind, part.from, part.bytes);
  }
  return copy;
}

void EmulatedRuntime::copy(void* to, const void* from, size_t bytes) {
  const std::lock_guard lock(machine_.mutex());
  must_hold(to, bytes);
  must_hold(from, bytes);
  if (bytes > 0) std::memmove(to, from, bytes);
}

const Kernel* EmulatedRuntime::find(const EmulatedKernel* first, std::string_view name) {
  const EmulatedKernel* found = nullptr;
  for (const auto* entry = first; entry; entry = entry->next) {
    if (entry->name != name) continue;
    if (found) throw Error(ErrorKind::internal, 996, fmt::format("two kernels have the name {}", name));
    found = entry;
  }
  if (!found) return nullptr;
  auto& kernel = kernels_[found];
  if (!kernel) kernel = std::make_unique<FoundKernel>(*found);
  return kernel.get();
}

const Kernel& EmulatedRuntime::find_kernel(std::string_view name) {
  const std::lock_guard lock(machine_.mutex());
  if (const auto* kernel = find(emulated_kernels, name)) return *kernel;
  throw Error(ErrorKind::internal, 997, fmt::format("no .cu file of this program has a kernel {}", name));
}

std::vector<std::shared_ptr<const Kernel>> EmulatedRuntime::compile(const std::string& source,
                                                                    std::span<const std::string> names) {
  const std::lock_guard lock(machine_.mutex());
  const auto* const first = compile_kernels(source);
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (const auto& name : names) {
    kernels.emplace_back(std::shared_ptr<const void>(), find(first, name));  // they stay loaded
    if (!kernels.back())
      throw Error(ErrorKind::internal, 998, fmt::format("the generated source has no kernel {}", name));
  }
  return kernels;
}

void EmulatedRuntime::run(const Launch& launch, LaunchUses* uses) {
  ensure(launch.kernel, "a launch has a kernel");
  const std::lock_guard lock(machine_.mutex());
  machine_.run(static_cast<const FoundKernel*>(launch.kernel)->entry, launch, region_, cells_, uses);
}

// All work is done when it is given: marks are reached, and nothing has to wait.
class EmulatedLane final : public Lane {
 public:
  explicit EmulatedLane(EmulatedRuntime& runtime) : runtime_(runtime) {}
  std::string device() const override { return fmt::format("{}-{}", getpid(), static_cast<const void*>(&runtime_)); }
  std::shared_ptr<const Mark> mark_device() override { return std::make_shared<Reached>(); }
  std::shared_ptr<const Mark> mark() override { return std::make_shared<Reached>(); }
  void wait_for(const Mark& mark) override { ensure(mark.reached(), "work of an emulated device is done"); }
  void hold_device(const Mark& mark) override { wait_for(mark); }
  void copy(void* to, const Lane& from, const void* memory, size_t bytes) override {
    runtime_.copy_from_device(to, static_cast<const EmulatedLane&>(from).runtime_, memory, bytes);
  }
  void launch(const Launch& launch) override { runtime_.launch(launch); }
  void with_stream(FunctionRef<void(void* stream)> body) override { body(nullptr); }

 private:
  struct Reached final : Mark {
    bool reached() const override { return true; }
  };
  EmulatedRuntime& runtime_;
};

std::unique_ptr<Lane> EmulatedRuntime::make_lane() { return std::make_unique<EmulatedLane>(*this); }

void EmulatedRuntime::copy_from_device(void* to, const EmulatedRuntime& device, const void* from, size_t bytes) {
  const std::lock_guard lock(machine_.mutex());
  must_hold(to, bytes);
  device.must_hold(from, bytes);
  if (bytes > 0) std::memmove(to, from, bytes);
}

std::string EmulatedRuntime::describe(size_t offset) {
  const std::lock_guard lock(machine_.mutex());
  return region_.describe(region_.address(offset));
}

std::vector<double> EmulatedRuntime::time(std::span<const Launch> launches) {
  std::vector<double> seconds;
  for (const auto& one : launches) {
    const auto start = std::chrono::steady_clock::now();
    launch(one);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return seconds;
}

std::unique_ptr<Graph> EmulatedRuntime::make_graph(std::span<const Launch> launches, const Edges& edges) {
  ensure(edges.size() == launches.size(), "a graph has the edges of all its launches");
  const std::lock_guard lock(machine_.mutex());
  newest = edges;
  std::vector<unsigned> wanted;
  machine_.arrange(wanted, static_cast<unsigned>(launches.size()));
  return std::make_unique<EmulatedGraph>(*this, launches, without_edge(edges, left_out), std::move(wanted));
}

[[maybe_unused]] const bool offered = offer_emulation(make_runtime);

}  // namespace

std::unique_ptr<Runtime> make_runtime() { return std::make_unique<EmulatedRuntime>(); }

void set_order(Order order, uint64_t seed) {
  auto& machine = EmulatedMachine::instance();
  const std::lock_guard lock(machine.mutex());
  machine.set_order(order, seed);
}

void leave_out_edge(int64_t edge) {
  const std::lock_guard lock(EmulatedMachine::instance().mutex());
  left_out = edge;
}

Edges newest_edges() {
  const std::lock_guard lock(EmulatedMachine::instance().mutex());
  return newest;
}

void set_checks(bool on) {
  auto& machine = EmulatedMachine::instance();
  const std::lock_guard lock(machine.mutex());
  machine.checks = on;
}

}  // namespace retrace::cuda::emulation
