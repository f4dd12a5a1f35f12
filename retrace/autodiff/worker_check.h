#pragma once
// The first call of a function made by value_and_grad with several workers: do they do the same?

#include <vector>

#include "retrace/distributed/worker.h"
#include "retrace/tensor/tree.h"
#include "retrace/trace/trace.h"

namespace retrace {

class Recording;

// Collects what this worker does, and compares it: do all call the same function of the same parameters? What may
// differ is left out: which shards a worker has, its part of the batch, its device.
class WorkerCheck {
 public:
  void add(const std::string& name, const std::string& value) { values_.emplace_back(name, value); }
  // Names, types and shapes of the leaves; their values where there is no label B and where they are known.
  void add_argument(const std::string& name, const Tree& argument);
  // Nodes that are recorded between these two calls are the work of a shard.
  void begin_shard();
  void end_shard(int64_t samples);
  // Throws Error(usage) on all workers if they differ.
  void compare(const Worker& worker) const;

 private:
  std::string operation(size_t node) const;
  bool is_outside(ValueId id) const;
  std::string result_of(ValueId id) const;
  std::string captured(ValueId id) const;

  NamedValues values_;
  std::vector<const TensorValue*> arguments_;
  std::vector<int64_t> sizes_;  // of shards that were recorded
  const Recording* recording_ = nullptr;
  size_t first_node_ = 0;
  ValueId first_value_{0};
  int64_t evaluations_ = 0;
};

}  // namespace retrace
