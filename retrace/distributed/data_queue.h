#pragma once
// Queues from workers to the one who watches them, and back.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "retrace/distributed/worker.h"

namespace retrace {

class QueueState;  // retrace/distributed/queue_server.h

// What queues of every type have.
class AnyDataQueue {
 public:
  // Items that were sent and not read yet, in the process that reads them; 0 in others.
  int64_t length() const;

 protected:
  // What is called with each item.
  struct Callback {
    virtual ~Callback() = default;
    virtual void call(const std::string& item) = 0;
  };
  explicit AnyDataQueue(int reader);
  void send_bytes(std::string item) const;
  std::optional<std::string> poll_bytes(double seconds) const;
  void call_each(std::unique_ptr<Callback> callback) const;

 private:
  friend class QueueState;
  std::shared_ptr<QueueState> state_;  // copies of a queue are the same queue
};

// A queue of values; T is anything that workers exchange (see Worker).
//
//   DataQueue<Progress> progress;                                  // on the thread that calls spmd
//   progress.after_each([&](const Progress& p) { print(p); });     // called on this thread
//   DataQueue<bool> stop;
//   pool.spmd([&](Worker& worker) {
//     while (...) {
//       ...
//       if (worker.index() == 0) progress.send({iteration, loss});
//       if (worker.sum(stop.length()) > 0) break;                  // all at the same iteration
//     }
//   });
//
// Any worker may send, at any time; items of one sender come in their order. Workers of one process share the queue,
// and any of them may read. Of ranks, worker `reader` reads; all ranks must make the same queues in the same order,
// outside of parallel_for and submit, and send from within spmd.
template <class T>
class DataQueue : public AnyDataQueue {
 public:
  explicit DataQueue(int reader = 0) : AnyDataQueue(reader) {}
  // Waits for nobody. Error(usage) if there is no worker `reader`.
  void send(const T& value) const { send_bytes(Portable<T>::bytes(value)); }
  // The oldest item, waiting for so many seconds; nothing if there is none.
  std::optional<T> poll(double seconds = 0) const {
    auto item = poll_bytes(seconds);
    if (!item) return {};
    return Portable<T>::value(*item);
  }
  // Calls f(value) for each item from now on, and for those that wait, on the thread that made the queue: while it
  // waits in spmd for the workers of its process; where it runs a worker itself (a pool of one, ranks), in that
  // worker's sends, collectives and messages, and at the end of spmd. Several functions are called in turn. An error
  // that f throws ends the workers, and spmd throws it.
  template <class F>
  void after_each(F f) const {
    struct Call : Callback {
      explicit Call(F given) : f(std::move(given)) {}
      void call(const std::string& item) override { f(Portable<T>::value(item)); }
      F f;
    };
    call_each(std::make_unique<Call>(std::move(f)));
  }
};

}  // namespace retrace
