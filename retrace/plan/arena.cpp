#include "retrace/plan/arena.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>

namespace retrace {
namespace {
size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }
}  // namespace

size_t place_blocks(std::vector<ArenaBlock>& blocks, bool reuse) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  std::vector<size_t> placed;  // by offset
  size_t total = 0;
  for (size_t index : order) {
    ArenaBlock& block = blocks[index];
    const size_t bytes = rounded(block.bytes);
    size_t offset = reuse ? 0 : total;
    for (size_t other_index : placed) {
      const ArenaBlock& other = blocks[other_index];
      const bool together = !reuse || (block.first <= other.last && other.first <= block.last);
      if (!together || !reuse) continue;
      if (offset + bytes <= other.offset) break;
      offset = std::max(offset, other.offset + rounded(other.bytes));
    }
    block.offset = offset;
    total = std::max(total, offset + bytes);
    const auto at = std::upper_bound(placed.begin(), placed.end(), offset,
                                     [&](size_t value, size_t i) { return value < blocks[i].offset; });
    placed.insert(at, index);
  }
  return total;
}

void* arena_memory(size_t bytes) {
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  thread_local std::unique_ptr<void, Free> memory;
  thread_local size_t size = 0;
  if (size < bytes) {
    memory.reset();
    size = rounded(bytes);
    memory.reset(std::aligned_alloc(64, size));
    if (!memory) throw std::bad_alloc();
  }
  return memory.get();
}

}  // namespace retrace
