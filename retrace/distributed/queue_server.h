#pragma once
// Where the items of data queues are kept, and handed to functions on the thread that made the queue.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/distributed/data_queue.h"
#include "retrace/distributed/group.h"

namespace retrace {

// The queues that a thread made, and news of them for it.
struct QueueInbox {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t news = 0;
  std::vector<std::weak_ptr<QueueState>> queues;

  static std::shared_ptr<QueueInbox> of_this_thread();
  void tell();
  // On its thread: calls the functions of its queues until `over`, at most so many seconds (below 0: without limit);
  // whether it is over. Who makes it so calls tell() afterwards.
  bool serve_until(FunctionRef<bool()> over, double seconds);
};

// One queue, in one process.
class QueueState {
 public:
  static std::shared_ptr<QueueState> make(int reader);

  // To the process that reads it.
  void send(std::string item);
  // In this process.
  void put(std::string item);
  int64_t length();
  std::optional<std::string> poll(double seconds);
  void call_each(std::unique_ptr<AnyDataQueue::Callback> callback);
  // Calls the functions with what is there, on the thread that made the queue.
  void deliver();

 private:
  const int64_t id_;  // of the queues of this process, by their order
  const int reader_;
  const std::shared_ptr<QueueInbox> inbox_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> items_;
  std::vector<std::shared_ptr<AnyDataQueue::Callback>> callbacks_;
  bool delivering_ = false;

 public:
  QueueState(int64_t id, int reader);
};

// This thread is a worker of that group for its lifetime: of ranks, items for other processes go through it, also where
// another pool runs inside.
class RanksScope {
 public:
  explicit RanksScope(Group& group);
  ~RanksScope();
  RanksScope(const RanksScope&) = delete;
  RanksScope& operator=(const RanksScope&) = delete;

 private:
  Group* before_;
};

// Takes in what other ranks sent, and calls the functions of this thread's queues. Called where a worker communicates;
// without queues it costs nothing.
void serve_queues();

// At the end of spmd on ranks: takes in all that was sent to this one.
void finish_queues(Group& group);

// Serves this thread's queues while other threads work.
class QueueServer {
 public:
  QueueServer();
  // One of the threads has ended; called by it.
  void done();
  // Returns when `count` threads have called done(), or with the error of a function, which is given to `failed`.
  std::exception_ptr serve(size_t count, FunctionRef<void(const std::exception&)> failed);

 private:
  std::shared_ptr<QueueInbox> inbox_;
  std::atomic<size_t> done_{0};
};

}  // namespace retrace
