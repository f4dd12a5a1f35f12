#pragma once
// Runs launches of emulated kernels.

#include <memory>
#include <mutex>
#include <vector>

#include "retrace/device/cuda/emulation/checker.h"
#include "retrace/device/cuda/emulation/scheduler.h"
#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda::emulation {

// The one machine of this process: all emulated devices share it, and kernels find it by emulated_machine. Its calls
// are made by the holder of mutex().
class EmulatedMachine final : public Machine, private Scheduler::Block {
 public:
  static EmulatedMachine& instance();
  std::mutex& mutex() { return mutex_; }
  void set_order(Order order, uint64_t seed) { scheduler_.set_order(order, seed); }

  // Runs all blocks. Errors: Error(internal) for a launch that the kernel does not allow, and for what emulation.h
  // lists.
  // With `uses`, what the launch uses of the region is noted there, if accesses are checked.
  void run(const EmulatedKernel& kernel, const Launch& launch, const Region& region, Cells& cells,
           LaunchUses* uses = nullptr);
  // The numbers 0 .. count - 1 in the order of blocks.
  void arrange(std::vector<unsigned>& numbers, unsigned count) { scheduler_.arrange(numbers, count); }

  void global(const void* memory, unsigned bytes, Access how) override { checker_.global(memory, bytes, how); }
  void shared(const void* memory, unsigned bytes, Access how) override { checker_.shared(memory, bytes, how); }
  void outside_of_part(long long i, long long count) override;
  std::byte* shared_part(const void* before, size_t bytes) override;
  void barrier(int line) override { scheduler_.barrier(line); }
  unsigned shuffle(Shuffle how, unsigned value, unsigned amount, int line) override {
    return scheduler_.shuffle(how, value, amount, line);
  }
  const unsigned* gather(const unsigned* words, unsigned count, int line) override {
    return scheduler_.gather(words, count, line);
  }
  void fence() override { checker_.fence(); }
  void async_copy(void* to, const void* from, unsigned bytes, bool valid) override;
  void async_commit() override;
  void async_wait(unsigned newest) override;

 private:
  struct AsyncCopy {
    void* to;
    const void* from;
    unsigned bytes, group;
    bool valid;
  };
  struct AsyncCopies {  // of one thread
    std::vector<AsyncCopy> waiting;
    unsigned groups = 0;  // committed
  };

  EmulatedMachine();
  void select(unsigned thread) override;
  void body() override { kernel_->body(arguments_.data()); }
  void barrier_passed() override { checker_.barrier(); }
  void prepare(const EmulatedKernel& kernel, const Launch& launch);

  std::mutex mutex_;
  Execution execution_;
  Scheduler scheduler_{execution_};
  Checker checker_{execution_};
  const EmulatedKernel* kernel_ = nullptr;
  std::vector<std::byte> arguments_;
  std::vector<Position> positions_;  // of each thread
  struct alignas(16) SharedMemory {
    std::byte bytes[Checker::kSharedCapacity];
  };
  std::unique_ptr<SharedMemory> shared_memory_ = std::make_unique<SharedMemory>();
  size_t shared_bytes_ = 0;
  std::vector<AsyncCopies> async_;
  bool async_used_ = false;
};

}  // namespace retrace::cuda::emulation
