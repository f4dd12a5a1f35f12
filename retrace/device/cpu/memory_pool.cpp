#include "retrace/device/cpu/memory_pool.h"

#include <algorithm>
#include <cstring>

#include "retrace/device/cpu/memory.h"

namespace retrace {

MemoryPool::~MemoryPool() { keep_at_most(0); }

MemoryPool::Set& MemoryPool::set_of(size_t bytes) {
  return sets_[(static_cast<uint64_t>(bytes) * 0x9e3779b97f4a7c15u >> 32) % kSets];
}

// Its first block.
void* MemoryPool::pop(Size& size) {
  void* const block = size.first;
  std::memcpy(&size.first, block, sizeof(void*));
  kept_ -= size.bytes;
  return block;
}

// Frees blocks until no more than `bytes` are kept.
void MemoryPool::keep_at_most(size_t bytes) {
  while (kept_ > bytes) {
    Size* oldest = nullptr;
    for (Set& set : sets_)
      for (Size& size : set)
        if (size.first && (!oldest || size.asked < oldest->asked)) oldest = &size;
    while (oldest->first && kept_ > bytes) give_memory(pop(*oldest));
  }
}

void* MemoryPool::take(size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    used_ += bytes;
    for (Size& size : set_of(bytes))
      if (size.bytes == bytes) {
        size.asked = ++now_;
        if (size.first) return pop(size);
      }
    most_used_ = std::max(most_used_, used_);
    keep_at_most(most_used_ - used_);
  }
  try {
    return take_memory(bytes);
  } catch (...) {
    std::lock_guard lock(mutex_);
    used_ -= bytes;
    keep_at_most(0);
    throw;
  }
}

void MemoryPool::give(void* data, size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  used_ -= bytes;
  Set& set = set_of(bytes);
  auto size = std::find_if(set.begin(), set.end(), [&](const Size& one) { return one.bytes == bytes; });
  if (size == set.end()) {
    size = std::min_element(set.begin(), set.end(), [](const Size& a, const Size& b) { return a.asked < b.asked; });
    while (size->first) give_memory(pop(*size));
    size->bytes = bytes;
  }
  size->asked = ++now_;
  std::memcpy(data, &size->first, sizeof(void*));
  size->first = data;
  kept_ += bytes;
  keep_at_most(most_used_ - used_);
}

size_t MemoryPool::kept() const {
  std::lock_guard lock(mutex_);
  return kept_;
}

}  // namespace retrace
