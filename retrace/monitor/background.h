#pragma once
// Work on a thread of its own, for what may wait for a disk or a reader.

#include <functional>
#include <memory>
#include <thread>

namespace retrace {

// One piece of work, done again whenever somebody asks. The thread is started by the first ask(); signals do not
// interrupt it. One thread owns the object.
class Background {
 public:
  // `work` takes what is there to do; it must throw nothing but std::bad_alloc, which is dropped.
  explicit Background(std::function<void()> work);
  // Waits for what was asked for.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Has the work done once more, and returns at once. False if the system has no thread left: nothing was done.
  bool ask();
  // Returns when nothing is asked for any more; after `seconds` at most, and then false.
  bool wait(double seconds);
  void wait();
  // The destructor will not wait: a thread that is stuck is left behind. Everything that `work` holds must be its own.
  void leave();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace retrace
