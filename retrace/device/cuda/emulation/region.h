#pragma once
// The memory of an emulated device: one range of addresses, so that what is known about an address is found by a shift.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace retrace::cuda::emulation {

// Pages that are there when they are touched, zero at first.
class Pages {
 public:
  Pages() = default;
  explicit Pages(size_t bytes);  // throws std::bad_alloc
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // Gives the memory of whole pages within the range back; they are zero again.
  void forget(size_t begin, size_t bytes);

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

// Buffers begin at multiples of 256 bytes and end in guard bytes, at least 256 of them, whose values are checked at
// release. A released buffer's addresses are used again as late as possible.
class Region {
 public:
  static constexpr size_t kUnit = 256, kMost = size_t{4} << 30;
  struct Buffer {
    size_t begin, bytes;
    bool live;
  };

  // A capacity that is a multiple of kUnit.
  explicit Region(size_t capacity = kMost);
  size_t capacity() const { return memory_.bytes(); }
  // Filled with ones: NaN as f32 and f64. Error(unavailable) when memory is exhausted.
  void* allocate(size_t bytes);
  // Error(internal) if `memory` is no buffer, or the bytes behind it were changed.
  void release(void* memory);

  size_t offset(const void* memory) const {
    return static_cast<size_t>(reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(memory_.data()));
  }
  const void* address(size_t offset) const { return memory_.data() + offset; }
  // The buffer that has, or had last, this offset; null for none.
  const Buffer* find(size_t offset) const {
    if (offset >= capacity()) return nullptr;
    const uint32_t number = owners()[offset / kUnit];
    return number ? &buffers_[number - 1] : nullptr;
  }
  bool holds(const void* memory, size_t bytes) const {
    const size_t at = offset(memory);
    const Buffer* buffer = find(at);
    return buffer && buffer->live && at - buffer->begin + bytes <= buffer->bytes;
  }
  // "offset 16 of buffer 3 (4096 bytes, released)"
  std::string describe(const void* memory) const;

 private:
  uint32_t* owners() const { return reinterpret_cast<uint32_t*>(owners_.data()); }
  size_t take(size_t bytes);
  void give_back(size_t begin, size_t bytes);

  Pages memory_, owners_;
  std::vector<Buffer> buffers_;
  std::map<size_t, size_t> free_;  // begin, bytes
  size_t next_ = 0, free_bytes_;
};

}  // namespace retrace::cuda::emulation
