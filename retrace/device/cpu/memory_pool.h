#pragma once
// Memory of tensors on the host that is free, kept for the next request of its size. A training step asks for the same
// sizes again and again; to fetch fresh pages from the system costs more than to write them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace retrace {

// What it keeps and what is in use are together never more than was in use at once at some time, or kLeast where that
// is more. Blocks whose size was asked for least recently go first. Any thread may call.
class MemoryPool {
 public:
  static constexpr size_t kLeast = size_t{32} << 20;

  MemoryPool() = default;
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  // A block of `bytes` bytes, a multiple of 64 and not 0, at alignment 64, uninitialised. Throws std::bad_alloc.
  void* take(size_t bytes);
  // Gives back what take(bytes) returned.
  void give(void* data, size_t bytes) noexcept;
  size_t kept() const;  // bytes

 private:
  // The free blocks of a size; the first bytes of each say where the next one is.
  struct Size {
    size_t bytes = 0;
    void* first = nullptr;
    uint64_t asked = 0;  // when a block of this size was asked for or given back; 0: never
  };
  static constexpr size_t kSets = 128, kWays = 8;
  using Set = std::array<Size, kWays>;

  Set& set_of(size_t bytes);
  void* pop(Size& size);
  void keep_at_most(size_t bytes);

  mutable std::mutex mutex_;
  std::array<Set, kSets> sets_;
  size_t used_ = 0, most_used_ = kLeast, kept_ = 0;
  uint64_t now_ = 0;
};

}  // namespace retrace
