#pragma once
// The services of a CUDA device: memory, copies, kernels, launches, graphs. Two implementations: the driver's
// (driver_runtime.h) and, in programs that link it, an emulation on the host (emulation/). Nothing here needs CUDA's
// headers or libraries to compile.
//
// A runtime is one device. All its work is ordered: one stream of launches and copies. Calls may come from any thread:
// work is given to the device by one at a time, and one that waits for the device keeps no other from it.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "retrace/device/cuda/lane.h"

namespace retrace::cuda {

// A kernel that was found, which lives as long as its runtime, or compiled.
class Kernel {
 public:
  virtual ~Kernel() = default;
  const std::string& name() const { return name_; }

 protected:
  explicit Kernel(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

struct Dim {
  unsigned x = 1, y = 1, z = 1;
  bool operator==(const Dim&) const = default;
};

// The one argument of every kernel is a struct of numbers and pointers, held here as bytes.
struct Launch {
  const Kernel* kernel = nullptr;
  Dim blocks, threads;
  size_t shared_bytes = 0;  // dynamic
  std::vector<std::byte> arguments;

  template <class Arguments>
  void set(const Arguments& value) {
    static_assert(std::is_trivially_copyable_v<Arguments> && sizeof(Arguments) <= 4000);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    arguments.assign(bytes.begin(), bytes.end());
  }
  void append(std::span<const std::byte> bytes) { arguments.insert(arguments.end(), bytes.begin(), bytes.end()); }
};

// Of each launch of a graph the earlier ones that it waits for, ascending.
using Edges = std::vector<std::vector<size_t>>;

// Launches, made ready to run many times.
class Graph {
 public:
  virtual ~Graph() = default;
  // Launch i gets other arguments (of the same size) from the next run on.
  virtual void set_arguments(size_t i, std::span<const std::byte> arguments) = 0;
  // Appends the launches to the device's work; returns at once.
  virtual void run() = 0;
};

// Bytes on their way to the host.
class HostCopy {
 public:
  virtual ~HostCopy() = default;
  // Returns when they are there, while the device goes on with later work. Valid while this lives.
  virtual const void* wait() = 0;
};

// Part of the device's memory: a multiple of four bytes.
struct DevicePart {
  const void* from = nullptr;
  size_t bytes = 0;
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string model() const = 0;  // "NVIDIA H100 80GB HBM3"
  virtual bool is_emulated() const = 0;
  virtual size_t memory() = 0;  // bytes that the device has, used or not

  // Device memory, aligned to 256 bytes. Error(unavailable) when it is exhausted, with what was asked for and what is
  // free. bytes = 0 gives null.
  virtual void* allocate(size_t bytes) = 0;
  // Runs after all work given before, also while the process ends, when the driver may have ended already.
  virtual void release(void* memory) = 0;

  // Memory of the host that kernels reach at the same address; zeros. Lives as long as the runtime.
  virtual void* allocate_on_host(size_t bytes) = 0;

  // Copies in order with launches. From or to host memory: return when the host memory may be changed, or holds the
  // bytes; through pinned memory of the runtime's own.
  virtual void copy_from_host(void* to, const void* from, size_t bytes) = 0;
  virtual void copy_to_host(void* to, const void* from, size_t bytes) = 0;
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  // One or two parts, of at most kMostLate bytes together, one behind the other, as they are after the work given so
  // far; returns at once.
  static constexpr size_t kMostLate = 4096;
  virtual std::unique_ptr<HostCopy> start_copy_to_host(std::span<const DevicePart> parts) = 0;

  // A kernel of a .cu file by its name; an internal error if there is none.
  virtual const Kernel& find_kernel(std::string_view name) = 0;
  // Compiles CUDA source that includes retrace/device/cuda/kernel.h, and returns its kernels with these names. The same
  // source is compiled once, and kept on disk; on the device it is kept while one of its kernels is held.
  virtual std::vector<std::shared_ptr<const Kernel>> compile(const std::string& source,
                                                             std::span<const std::string> names) = 0;

  virtual void launch(const Launch& launch) = 0;
  // The same one after the other, and the seconds that each took on the device; returns when all are done. For tools.
  virtual std::vector<double> time(std::span<const Launch> launches) = 0;
  // Launches that no path of edges orders run in any order, or beside each other.
  virtual std::unique_ptr<Graph> make_graph(std::span<const Launch> launches, const Edges& edges) = 0;
  // Each after the one before.
  std::unique_ptr<Graph> make_line(std::span<const Launch> launches);
  // A queue of work beside this one's. The runtime outlives it.
  virtual std::unique_ptr<Lane> make_lane() = 0;
  // Returns when all work is done; errors of earlier launches are thrown here at the latest.
  virtual void synchronize() = 0;
};

// The devices of this process, in order: those of the driver that CUDA_VISIBLE_DEVICES leaves, or, with
// RETRACE_CUDA_EMULATION=N in a program that links the emulation, N that are emulated. Made on first use.
std::span<const std::unique_ptr<Runtime>> runtimes();
// Why runtimes() is empty: "no CUDA driver (libcuda.so.1) on this machine"; "" if it is not.
std::string why_no_runtime();

// The emulation says here, before main, that it is linked.
using MakeRuntime = std::unique_ptr<Runtime> (*)();
bool offer_emulation(MakeRuntime make);

}  // namespace retrace::cuda
