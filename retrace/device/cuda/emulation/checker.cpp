#include "retrace/device/cuda/emulation/checker.h"

#include <fmt/format.h>

namespace retrace::cuda::emulation {
namespace {

const char* name(Access how) {
  switch (how) {
    case Access::read: return "read";
    case Access::read_cached: return "load_cached";
    case Access::write: return "write";
    case Access::atomic: return "atomic";
  }
  return "";
}

bool reads(Access how) { return how == Access::read || how == Access::read_cached; }

}  // namespace

void Checker::begin_launch(const Region& region, Cells& cells, const std::byte* shared) {
  region_ = &region;
  cells_ = &cells;
  shared_memory_ = shared;
  constexpr uint32_t kLastEpoch = 0xF0000000;  // far from what one launch needs to the end
  if (epochs_.now > kLastEpoch) epochs_.now = 1, ++era_;
  cells.enter(era_);
  shared_cells_.enter(era_);
  epochs_.begin_launch();
  ordering_.begin_launch();
}

void Checker::begin_block() {
  epochs_.begin_block(execution_.block);
  ordering_.begin_block();
}

std::string Checker::describe(bool is_shared, const void* memory) const {
  if (!is_shared) return region_->describe(memory);
  return fmt::format("offset {} of shared memory", static_cast<const std::byte*>(memory) - shared_memory_);
}

void Checker::aligned(bool is_shared, const void* memory, unsigned bytes, Access how) const {
  if (reinterpret_cast<uintptr_t>(memory) & ((bytes & -bytes) - 1)) [[unlikely]]
    execution_.fail(982, "an access is not aligned to its size",
                    fmt::format("{} of {} bytes at {}", name(how), bytes, describe(is_shared, memory)));
}

void Checker::outside(const void* memory, unsigned bytes, Access how) const {
  execution_.fail(983, "an access outside of device memory",
                  fmt::format("{} of {} bytes at {}", name(how), bytes, describe(false, memory)));
}

void Checker::slow_global(size_t offset, const void* memory, unsigned bytes, Access how) {
  if (how == Access::atomic) ordering_.atomic(offset, execution_.thread, epochs_);
  access({cells_, epochs_.launch, false}, offset, memory, bytes, how);
}

void Checker::slow_shared(size_t offset, const void* memory, unsigned bytes, Access how) {
  const Space space{&shared_cells_, epochs_.block, true};
  if (how != Access::write) initialised(space, offset, memory, bytes, how);
  access(space, offset, memory, bytes, how);
}

void Checker::pending(const void* memory, unsigned bytes) {
  shared(memory, bytes, Access::write);
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(memory) - shared_memory_);
  for (unsigned i = 0; i < bytes; i += 4) shared_cells_.word(offset + i)->pending = 1;
}

bool Checker::allowed(const Space& space, const Cell& cell, Access how) const {
  const unsigned thread = execution_.thread;
  const bool both_atomic = how == Access::atomic && cell.atomic;
  if (cell.written >= epochs_.block) {
    if (cell.written == epochs_.now && cell.writer != thread && !both_atomic) return false;
  } else if (cell.written >= space.oldest && !both_atomic &&
             !ordering_.ordered(cell.written, cell.writer, thread, epochs_)) {
    return false;
  }
  if (how == Access::read_cached) return cell.written < space.oldest;
  if (how == Access::read) return true;
  if (cell.read == epochs_.now && cell.reader != thread) return false;
  for (const uint32_t then : {cell.first_read, cell.read})
    if (then >= space.oldest && then < epochs_.block && !ordering_.ordered(then, kManyThreads, thread, epochs_))
      return false;
  return true;
}

void Checker::note(const Space& space, Cell& cell, Access how) const {
  const unsigned thread = execution_.thread;
  const uint32_t now = epochs_.now;
  if (reads(how)) {
    if (cell.read != now) {
      if (cell.read < space.oldest) cell.first_read = now;
      cell.read = now;
      cell.reader = thread;
    } else if (cell.reader != thread) {
      cell.reader = kManyThreads;
    }
    return;
  }
  // An atomic hides no other write of this epoch: it must be this thread's own.
  const bool first = cell.written != now;
  const bool atomic = how == Access::atomic && (first || cell.atomic);
  cell.writer = atomic && !first && cell.writer != thread ? kManyThreads : thread;
  cell.written = now;
  cell.atomic = atomic;
  cell.pending = 0;
}

void Checker::access(const Space& space, size_t offset, const void* memory, unsigned bytes, Access how) {
  aligned(space.is_shared, memory, bytes, how);
  if (bytes % 4 != 0) return single_bytes(space, offset, memory, bytes, how);
  Cell* cell = space.cells->word(offset);
  for (Cell* const end = cell + bytes / 4; cell != end; ++cell) {
    if (!allowed(space, *cell, how)) [[unlikely]]
      race(space, *cell, memory, bytes, how);
    if (cell->bytes) [[unlikely]] {
      const size_t word = offset + bytes - static_cast<size_t>(end - cell) * 4;
      for (size_t i = word; i < word + 4; ++i)
        if (const Cell& single = *space.cells->byte(i); !allowed(space, single, how))
          race(space, single, memory, bytes, how);
    }
    note(space, *cell, how);
  }
}

// Uses of single bytes are noted in their own cells, and compared with those of the whole word.
void Checker::single_bytes(const Space& space, size_t offset, const void* memory, unsigned bytes, Access how) {
  for (size_t i = offset; i < offset + bytes; ++i) {
    Cell& word = *space.cells->word(i);
    Cell& single = *space.cells->byte(i);
    for (const Cell* cell : {&word, &single})
      if (!allowed(space, *cell, how)) race(space, *cell, memory, bytes, how);
    word.bytes = 1;
    if (!reads(how)) word.pending = 0;
    note(space, single, how);
  }
}

void Checker::initialised(const Space& space, size_t offset, const void* memory, unsigned bytes, Access how) {
  for (size_t i = offset; i < offset + bytes;) {
    const Cell& word = *space.cells->word(i);
    const bool written = word.written >= space.oldest || (word.bytes && space.cells->byte(i)->written >= space.oldest);
    if (!written || word.pending) [[unlikely]]
      execution_.fail(984,
                      written ? "shared memory is read before async_wait() for a copy into it"
                              : "shared memory is read before it is written",
                      fmt::format("{} of {} bytes at {}", name(how), bytes, describe(true, memory)));
    i += word.bytes || bytes % 4 != 0 ? 1 : 4;
  }
}

void Checker::race(const Space& space, const Cell& cell, const void* memory, unsigned bytes, Access how) const {
  const auto got = fmt::format("{} of {} bytes at {}", name(how), bytes, describe(space.is_shared, memory));
  if (how == Access::read_cached && cell.written >= space.oldest)
    execution_.fail(985, "load_cached() of memory that is written while the kernel runs", got);
  const bool written_now = cell.written == epochs_.now && cell.writer != execution_.thread;
  const bool read_now = cell.read == epochs_.now && cell.reader != execution_.thread;
  const auto thread_name = [&](unsigned thread) {
    return thread == kManyThreads ? std::string("(several)") : text(position(thread, execution_.block_threads));
  };
  if (written_now || read_now)
    execution_.fail_both(986, "two threads use the same memory, and no barrier stands between", got, execution_.block,
                         thread_name(written_now ? cell.writer : cell.reader));
  const bool by_write = cell.written >= space.oldest && cell.written < epochs_.block;
  const uint32_t then = by_write ? cell.written : cell.first_read;
  execution_.fail_both(987, "two blocks of a launch use the same memory, and nothing orders them", got,
                       epochs_.block_at(then), by_write ? thread_name(cell.writer) : "(one)");
}

}  // namespace retrace::cuda::emulation
