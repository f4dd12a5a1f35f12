#pragma once
// A CUDA driver for tests: a library that RETRACE_CUDA_DRIVER names in place of libcuda.so.1. Device memory is memory
// of the host. Copies and graphs are done as late as the driver may: when somebody waits for them. Kernels are not
// executed; their launches are recorded, and each takes a microsecond a block. As the real one, it ends before what
// the program made static, and refuses every call from then on. Misuse that a real driver would punish sometimes (a
// call without a context, a copy outside of memory, a handle that was destroyed) fails here always.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace fake_cuda {

struct Device {
  std::string name;
  int capability = 90;
  size_t memory = size_t{1} << 30;
};

struct Launched {
  std::string kernel;
  unsigned blocks[3], threads[3], shared_bytes;
  std::vector<std::byte> arguments;
  bool in_graph;
};

// Forgets everything, and is from now on a driver of this version with these devices.
void reset(std::vector<Device> devices = {{"Fake H100"}}, int version = 13000);
// The call number `nth` (1 is the next) of the function `symbol` returns `result` and does nothing else.
void fail(const std::string& symbol, int nth, int result);
// While it is held, the device makes no progress: calls that wait for it wait.
void hold(bool held);
// From now on every call that waits for the device returns `result`.
void break_device(int result);

// How often `symbol` was called since reset().
int calls(const std::string& symbol);
// Launches that were executed, in order.
std::vector<Launched> executed();
// Number of nodes that the graph of each executable depends on, in order of their making: {0, 1, 1} is a chain.
std::vector<std::vector<size_t>> graph_dependencies();
// How many of them are programmatic.
std::vector<std::vector<size_t>> programmatic_dependencies();
// From now on kernels are code for this capability; at first 80.
void set_kernel_capability(int capability);
// The largest dynamic shared memory that was allowed for a kernel; 0 if nobody asked.
int allowed_shared(const std::string& kernel);
// What is held now, by kind; without what is zero: "memory", "pinned", "context", "stream", "event", "module", "graph",
// "executable".
std::map<std::string, int> held();

}  // namespace fake_cuda
