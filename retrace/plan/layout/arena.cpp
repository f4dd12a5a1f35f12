#include "retrace/plan/layout/arena.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>

#include "retrace/device/cpu/memory.h"

namespace retrace {
namespace {
size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }
}  // namespace

size_t place_blocks(std::vector<ArenaBlock>& blocks, bool reuse) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  std::vector<ArenaBlock> placed;  // by offset
  placed.reserve(blocks.size());
  size_t total = 0;
  for (size_t index : order) {
    ArenaBlock block = blocks[index];
    block.bytes = rounded(block.bytes);
    block.offset = reuse ? 0 : total;
    for (const ArenaBlock& other : placed) {
      const bool together = block.first <= other.last && other.first <= block.last;
      if (!together || !reuse) continue;
      if (block.offset + block.bytes <= other.offset) break;
      block.offset = std::max(block.offset, other.offset + other.bytes);
    }
    blocks[index].offset = block.offset;
    total = std::max(total, block.offset + block.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                   [](const ArenaBlock& a, const ArenaBlock& b) { return a.offset < b.offset; }),
                  block);
  }
  return total;
}

void* arena_memory(size_t depth, size_t bytes) {
  struct Free {
    void operator()(void* data) const { give_memory(data); }
  };
  struct Arena {
    std::unique_ptr<void, Free> data;
    size_t bytes = 0;
  };
  thread_local std::deque<Arena> arenas;
  if (arenas.size() <= depth) arenas.resize(depth + 1);
  Arena& arena = arenas[depth];
  if (arena.bytes < bytes) {
    arena.data.reset();
    arena.bytes = rounded(bytes);
    arena.data.reset(take_memory(arena.bytes));
  }
  return arena.data.get();
}

}  // namespace retrace
