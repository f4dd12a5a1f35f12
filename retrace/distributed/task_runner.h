#pragma once
// Threads of a pool for work that is given to it piece by piece.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "retrace/distributed/future.h"

namespace retrace {

class TaskRunner {
 public:
  explicit TaskRunner(int workers) : workers_(workers) {}
  // Cancels what has not begun, and waits for the rest.
  ~TaskRunner();

  // On the next of the workers that is free, with so many threads for kernels. Throws Error(unavailable) if the system
  // gives no thread at all.
  void add(std::shared_ptr<FutureState> task, int threads);
  // On a thread of its own.
  void start(std::shared_ptr<FutureState> task);

 private:
  struct Task {
    std::shared_ptr<FutureState> state;
    int threads;
  };
  void serve();
  std::shared_ptr<FutureState> next_left();

  const int workers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  int idle_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_, own_;
};

}  // namespace retrace
