#include "retrace/base/recycle.h"

#include <utility>

#include "retrace/base/sanitizers.h"

namespace retrace {
namespace {

constexpr size_t kUnit = 64, kClasses = 64;       // blocks of 64, 128, ... 4096 bytes
constexpr size_t kKeptBytes = size_t{256} << 10;  // of one size and thread

// The free blocks of one thread. The type is trivial, so that it can be used until the thread's very end: tensors may
// outlive all other objects.
struct Kept {
  struct Block {
    Block* next;
  };
  Block* first[kClasses];
  size_t count[kClasses];
  bool ended;
};
thread_local Kept kept;

struct AtThreadEnd {
  bool begun = false;
  ~AtThreadEnd() {
    kept.ended = true;
    for (auto& first : kept.first)
      while (first) ::operator delete(std::exchange(first, first->next));
  }
};
thread_local AtThreadEnd at_thread_end;

size_t class_of(size_t bytes) { return bytes == 0 ? 0 : (bytes - 1) / kUnit; }

}  // namespace

void* take_block(size_t bytes) {
  const size_t size = class_of(bytes);
  if (RT_SANITIZED || size >= kClasses) return ::operator new(bytes);
  if (auto* block = kept.first[size]) {
    kept.first[size] = block->next, --kept.count[size];
    return block;
  }
  return ::operator new((size + 1) * kUnit);
}

void give_block(void* block, size_t bytes) noexcept {
  const size_t size = class_of(bytes);
  if (RT_SANITIZED || size >= kClasses || kept.ended || (kept.count[size] + 1) * (size + 1) * kUnit > kKeptBytes)
    return ::operator delete(block);
  at_thread_end.begun = true;  // so that it exists, and ends
  kept.first[size] = new (block) Kept::Block{kept.first[size]}, ++kept.count[size];
}

}  // namespace retrace
