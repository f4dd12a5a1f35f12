#include "retrace/device/cuda/emulation/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "retrace/base/hash.h"

namespace retrace::cuda::emulation {
namespace {
constexpr unsigned kWarp = 32;
}

void Scheduler::set_order(Order order, uint64_t seed) {
  order_ = order;
  seed_ = seed;
}

void Scheduler::arrange(std::vector<unsigned>& numbers, unsigned count) {
  numbers.resize(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  if (order_ == Order::descending) std::reverse(numbers.begin(), numbers.end());
  if (order_ == Order::seeded)
    for (unsigned i = count; i > 1; --i) {
      seed_ = mix64(seed_ + 0x9e3779b97f4a7c15ull);
      std::swap(numbers[i - 1], numbers[seed_ % i]);
    }
}

void Scheduler::run_block(Block& block) {
  struct Ending {
    Fibers& fibers;
    ~Ending() { fibers.abandon(); }
  } ending{fibers_};
  const unsigned count = execution_.threads;
  block_ = &block;
  plain_after_ = kNone;
  threads_.assign(count, Thread());
  arrange(warps_, (count + kWarp - 1) / kWarp);
  for (const unsigned warp : warps_) start_warp(warp);
  while (true) {
    meet(0, count, threads_[0].state);
    if (threads_[0].state == State::left) return;
    block.barrier_passed();
    for (const unsigned warp : warps_) resume_warp(warp);
  }
}

void Scheduler::start_warp(unsigned warp) {
  const unsigned first = warp * kWarp;
  arrange(lanes_, std::min(kWarp, execution_.threads - first));
  for (const unsigned lane : lanes_) {
    const unsigned thread = first + lane;
    block_->select(thread);
    if (plain_after_ == kNone) {
      stop(thread, fibers_.start(thread));
      if (lane == lanes_[0] && threads_[thread].state == State::left) plain_after_ = thread;
    } else {
      block_->body();
      stop(thread, true);
    }
  }
  if (plain_after_ == kNone) return run_warp_on(warp);
  plain_after_ = kNone;
}

void Scheduler::resume_warp(unsigned warp) {
  const unsigned first = warp * kWarp;
  arrange(lanes_, std::min(kWarp, execution_.threads - first));
  for (const unsigned lane : lanes_) {
    block_->select(first + lane);
    stop(first + lane, fibers_.resume(first + lane));
  }
  run_warp_on(warp);
}

// Runs the threads up to the next barrier, or to the end.
void Scheduler::run_warp_on(unsigned warp) {
  const unsigned first = warp * kWarp, count = std::min(kWarp, execution_.threads - first);
  while (true) {
    meet(first, count, threads_[first].state);
    if (threads_[first].state != State::at_shuffle) return;
    exchange(first);
    arrange(lanes_, count);
    for (const unsigned lane : lanes_) {
      block_->select(first + lane);
      stop(first + lane, fibers_.resume(first + lane));
    }
  }
}

void Scheduler::stop(unsigned thread, bool ended) {
  if (ended) threads_[thread].state = State::left;
}

// All of them must be in one state, and in one line of the kernel.
void Scheduler::meet(unsigned first, unsigned count, State state) {
  const Thread& one = threads_[first];
  for (unsigned i = first + 1; i < first + count; ++i) {
    const Thread& other = threads_[i];
    if (other.state != state) not_all(first, i);
    if (state != State::left && (other.line != one.line || other.how != one.how)) not_all(first, i);
  }
}

void Scheduler::exchange(unsigned first) {
  if (threads_[first].how == Shuffle::all_lanes) {
    gathered_.clear();
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      const Thread& thread = threads_[first + lane];
      gathered_.insert(gathered_.end(), thread.words, thread.words + thread.amount);
    }
    return;
  }
  unsigned values[kWarp];
  for (unsigned lane = 0; lane < kWarp; ++lane) values[lane] = threads_[first + lane].value;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    Thread& thread = threads_[first + lane];
    unsigned from = thread.amount;
    if (thread.how == Shuffle::down) from = lane + thread.amount < kWarp ? lane + thread.amount : lane;
    if (thread.how == Shuffle::exclusive_or) from = lane ^ thread.amount;
    thread.value = values[from % kWarp];
  }
}

void Scheduler::barrier(int line) {
  Thread& thread = threads_[execution_.thread];
  thread.state = State::at_barrier;
  thread.line = line;
  thread.how = {};
  if (plain_after_ != kNone) not_all(plain_after_, execution_.thread);
  fibers_.suspend();
}

void Scheduler::wait_for_warp(const Thread& now) {
  if (execution_.threads % kWarp != 0)
    execution_.fail(988, "a shuffle in a block whose threads do not fill whole warps",
                    fmt::format("{} threads a block", execution_.threads));
  threads_[execution_.thread] = now;
  if (plain_after_ != kNone) not_all(plain_after_, execution_.thread);
  fibers_.suspend();
}

unsigned Scheduler::shuffle(Shuffle how, unsigned value, unsigned amount, int line) {
  wait_for_warp({State::at_shuffle, how, line, value, amount, nullptr});
  return threads_[execution_.thread].value;
}

const unsigned* Scheduler::gather(const unsigned* words, unsigned count, int line) {
  wait_for_warp({State::at_shuffle, Shuffle::all_lanes, line, 0, count, words});
  return gathered_.data();
}

void Scheduler::not_all(unsigned one, unsigned other) const {
  const auto where = [&](unsigned thread) {
    const Thread& it = threads_[thread];
    const auto name = text(position(thread, execution_.block_threads));
    if (it.state == State::left) return fmt::format("thread {} has left the kernel", name);
    return fmt::format("thread {} is at the {} in line {}", name, it.state == State::at_barrier ? "barrier" : "shuffle",
                       it.line);
  };
  execution_.fail(989, "not all threads come to the same barrier or shuffle",
                  fmt::format("{}; {}", where(one), where(other)));
}

}  // namespace retrace::cuda::emulation
