#pragma once
// How the threads of a crew share out the pieces of a job.

#include <atomic>
#include <cstdint>

namespace retrace {

// Pieces begin..end-1 of a job that nobody has claimed yet. Their thread takes the lowest, so that it walks through its
// memory in order; threads that have nothing left take the highest.
class alignas(64) PieceShare {
 public:
  static constexpr int64_t kNone = -1;

  // begin and end: 0 to 2^32 - 1.
  void fill(int64_t begin, int64_t end) {
    range_.store(static_cast<uint64_t>(end) << 32 | static_cast<uint64_t>(begin), std::memory_order_release);
  }
  int64_t take_lowest() {
    return take(1, [](uint64_t range) { return begin_of(range); });
  }
  int64_t take_highest() {
    return take(-kOneEnd, [](uint64_t range) { return end_of(range) - 1; });
  }

 private:
  static constexpr uint64_t kOneEnd = uint64_t{1} << 32;
  static int64_t begin_of(uint64_t range) { return static_cast<int64_t>(range & 0xffffffffu); }
  static int64_t end_of(uint64_t range) { return static_cast<int64_t>(range >> 32); }

  template <class Piece>
  int64_t take(uint64_t change, Piece piece) {
    uint64_t range = range_.load(std::memory_order_acquire);
    while (begin_of(range) < end_of(range))
      if (range_.compare_exchange_weak(range, range + change)) return piece(range);
    return kNone;
  }

  std::atomic<uint64_t> range_{0};
};

}  // namespace retrace
