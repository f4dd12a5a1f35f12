#pragma once
// Memory of intermediates: lifetimes to offsets, as a pure function; and the bytes behind them.

#include <cstddef>
#include <vector>

namespace retrace {

struct ArenaBlock {
  size_t bytes = 0;
  size_t first = 0, last = 0;  // steps during which it is in use, both included
  size_t offset = 0;           // result, a multiple of 64
};

// Gives every block an offset so that blocks in use at the same step never overlap; returns the bytes needed. Largest
// first, lowest offset that fits; with reuse = false every block has bytes of its own.
size_t place_blocks(std::vector<ArenaBlock>& blocks, bool reuse);

// At least `bytes` bytes that belong to this thread's plan runs of that depth (0: not inside of another's), 64-byte
// aligned; contents are not kept.
void* arena_memory(size_t depth, size_t bytes);

}  // namespace retrace
