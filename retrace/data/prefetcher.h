#pragma once
// Mini-batches made ahead of time, on threads of their own.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "retrace/monitor/background.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Makes the mini-batches of one sequence while those before them are used. What take() returns does not depend on the
// number of threads, or on which of them made it. One thread owns the object; make() is called by the others, each with
// one thread for its kernels. The destructor waits for calls that have begun.
class Prefetcher {
 public:
  using Batch = std::vector<Tensor>;
  // Mini-batch i of a sequence; called once for each i, in ascending order where there is one thread.
  using Make = std::function<Batch(int64_t i)>;

  // At most max(threads, ahead) mini-batches are made and not taken. Threads start with the first sequence.
  Prefetcher(int threads, int ahead);
  ~Prefetcher();

  // Begins a sequence of `count` mini-batches; those of the one before are dropped, also those that are still being
  // made.
  void begin(Make make, int64_t count);
  // The next mini-batch of the sequence: waits for it. If making it failed, that exception; then the sequence is over,
  // and another one must begin. None if the system has no thread for this, or after the last one.
  std::optional<Batch> take();

 private:
  struct State;
  bool ask();

  std::shared_ptr<State> state_;
  std::vector<std::unique_ptr<Background>> threads_;  // last: they end first
};

}  // namespace retrace
