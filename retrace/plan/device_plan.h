#pragma once
// What a plan does on its device. The trace has been through the passes and outlives it.

#include <string>
#include <vector>

#include "retrace/trace/trace.h"

namespace retrace {

// What is computed at one time, for people and tools: kernel calls first..first+count-1. None: work of the host that
// precedes the call of that number.
struct PlannedCall {
  std::vector<const Node*> nodes;
  size_t first, count;
  std::vector<std::string> kernels = {};  // the name of each call's kernel, where kernels have names
};

class DevicePlan {
 public:
  virtual ~DevicePlan() = default;

  // inputs[i] and outputs[i] are the bytes, on the device, of the trace's inputs and outputs; of inputs of the host on
  // the host. With `seconds`, what each kernel call took is added to it.
  virtual void run(const void* const* inputs, void* const* outputs, std::vector<double>* seconds) = 0;

  // For each output the input in whose memory it may be made (each input once), or -1.
  virtual std::vector<int> find_donors() const = 0;
  virtual size_t arena_bytes() const = 0;
  virtual size_t thread_bytes() const { return 0; }  // that each thread needs beside the arena
  virtual size_t kernel_calls() const = 0;
  virtual size_t changed_launches() const { return 0; }  // Plan::changed_launches()
  virtual std::vector<PlannedCall> calls() const = 0;
};

}  // namespace retrace
