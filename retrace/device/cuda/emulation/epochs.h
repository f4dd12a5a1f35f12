#pragma once
// Time in an emulated launch, and what one block knows of another's.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace retrace::cuda::emulation {

constexpr unsigned kManyThreads = 1024;  // in place of a thread's number

// An epoch is the time between two barriers of a block. Numbers go up over all launches.
struct Epochs {
  uint32_t launch = 1, block = 1, now = 1;  // the first epoch of the launch, of the block, and this one
  std::vector<uint32_t> starts;             // the first epoch of each block of the launch, in the order they ran
  std::vector<size_t> blocks;               // which blocks these were

  void begin_launch() {
    launch = ++now;
    starts.clear();
    blocks.clear();
  }
  void begin_block(size_t number) {
    block = ++now;
    starts.push_back(now);
    blocks.push_back(number);
  }
  // The block that ran at an epoch of this launch.
  size_t block_at(uint32_t epoch) const {
    return blocks[static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), epoch) - starts.begin()) - 1];
  }
};

// Blocks that know of each other: one that did fence() and then an integer atomic has released what it had written, and
// one that comes to the same address with an atomic later has acquired it. Not passed on through a third address.
class Ordering {
 public:
  void begin_launch();
  void begin_block();
  void fence(unsigned thread, const Epochs& epochs);
  void atomic(size_t address, unsigned thread, const Epochs& epochs);
  // What `writer` (kManyThreads: anybody) did in epoch `then`, in another block of this launch, comes before what
  // `thread` does now.
  bool ordered(uint32_t then, unsigned writer, unsigned thread, const Epochs& epochs) const;

 private:
  struct Release {
    uint32_t block, at, fence;  // epochs: its block's first, the atomic's, the fence's
    unsigned thread;
    std::vector<uint32_t> fences;  // of all threads of the block; empty if this thread's alone
    bool publishes(uint32_t then, unsigned writer) const;
  };
  struct Acquired {
    const std::vector<Release>* releases;
    size_t count;
    uint32_t at;
    unsigned thread;
  };
  std::unordered_map<size_t, std::vector<Release>> releases_;
  std::vector<Acquired> acquired_;
  std::vector<uint32_t> fences_;  // of each thread of this block: the epoch of its last fence, 0 for none
};

}  // namespace retrace::cuda::emulation
