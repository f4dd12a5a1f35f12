#pragma once
// A stack of its own for each thread of a block, so that a thread can stop in the middle of a kernel.

#include <functional>
#include <memory>
#include <vector>

namespace retrace::cuda {

// Runs a task on several fibers, on one at a time, each until it suspends or ends. Fibers are kept and used again.
// Calls from outside come one at a time, from any thread.
class Fibers {
 public:
  explicit Fibers(std::function<void()> task);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Runs the task on fiber `slot` until it suspends (false) or ends (true). Rethrows what it throws.
  bool start(unsigned slot);
  // Goes on with a task that was suspended; result and errors as above.
  bool resume(unsigned slot);
  // Inside of a task: back to the caller of start() or resume().
  void suspend();
  // Ends the task wherever it is suspended: suspend() throws, so that the stack is unwound.
  void abandon();

 private:
  struct Fiber;
  struct Abandoned {};
  void enter(Fiber& fiber);
  void leave(Fiber& fiber, bool last);
  void work(Fiber& fiber);

  std::unique_ptr<Fiber> make_fiber(unsigned slot);

  std::function<void()> task_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_ = nullptr;
  bool abandoning_ = false;
};

}  // namespace retrace::cuda
