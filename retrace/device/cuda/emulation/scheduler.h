#pragma once
// The threads of a block, one after another: who runs next, barriers and shuffles.

#include <string>
#include <vector>

#include "retrace/device/cuda/emulation/emulation.h"
#include "retrace/device/cuda/emulation/execution.h"
#include "retrace/device/cuda/emulation/fibers.h"

namespace retrace::cuda::emulation {

// A warp whose first thread leaves the kernel without barrier or shuffle cannot have any: its threads run as plain
// calls. All others have fibers.
class Scheduler {
 public:
  // The calls by which the scheduler runs a block.
  class Block {
   public:
    virtual void select(unsigned thread) = 0;  // from here on this thread runs
    virtual void body() = 0;
    virtual void barrier_passed() = 0;

   protected:
    ~Block() = default;
  };

  explicit Scheduler(const Execution& execution) : execution_(execution), fibers_([this] { block_->body(); }) {}
  void set_order(Order order, uint64_t seed);
  // The numbers 0 .. count - 1 in the order's order.
  void arrange(std::vector<unsigned>& numbers, unsigned count);

  // Runs all threads to their end. Errors: what body() throws; Error(internal) for barriers and shuffles that not all
  // threads reach.
  void run_block(Block& block);
  // In a thread's body:
  void barrier(int line);
  unsigned shuffle(Shuffle how, unsigned value, unsigned amount, int line);
  const unsigned* gather(const unsigned* words, unsigned count, int line);

 private:
  enum class State : unsigned char { running, left, at_barrier, at_shuffle };
  struct Thread {
    State state = State::running;
    Shuffle how{};
    int line = 0;
    unsigned value = 0, amount = 0;
    const unsigned* words = nullptr;  // `amount` of them, for all lanes
  };
  void start_warp(unsigned warp);
  void resume_warp(unsigned warp);
  void run_warp_on(unsigned warp);
  void exchange(unsigned warp);
  void wait_for_warp(const Thread& thread);
  void meet(unsigned first, unsigned count, State state);
  void stop(unsigned thread, bool ended);
  [[noreturn]] void not_all(unsigned one, unsigned other) const;

  const Execution& execution_;
  Fibers fibers_;
  Block* block_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<unsigned> warps_, lanes_;
  std::vector<unsigned> gathered_;  // the words of all lanes of the running warp
  unsigned plain_after_ = kNone;    // the thread that left, while its warp runs as plain calls
  static constexpr unsigned kNone = ~0u;
  Order order_ = Order::ascending;
  uint64_t seed_ = 0;
};

}  // namespace retrace::cuda::emulation
