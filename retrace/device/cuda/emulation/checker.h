#pragma once
// The state of each word of memory, and the rules for using it.

#include <cstdint>

#include "retrace/device/cuda/emulation/epochs.h"
#include "retrace/device/cuda/emulation/execution.h"
#include "retrace/device/cuda/emulation/launch_uses.h"
#include "retrace/device/cuda/emulation/region.h"
#include "retrace/device/cuda/kernel.h"

namespace retrace::cuda::emulation {

// The last uses of four bytes, or of one.
struct Cell {
  uint32_t written = 0, first_read = 0, read = 0;  // epochs; first_read: in the launch of `read`
  uint32_t writer : 11 = 0, reader : 11 = 0;
  uint32_t atomic : 1 = 0;   // the write was one
  uint32_t pending : 1 = 0;  // an async_copy to here is not waited for
  uint32_t bytes : 1 = 0;    // there have been uses of single bytes: they have cells of their own
};
static_assert(sizeof(Cell) == 16);

// Cells of a range of memory; those of single bytes when they are first needed.
class Cells {
 public:
  explicit Cells(size_t bytes) : bytes_(bytes), words_(bytes / 4 * sizeof(Cell)) {}
  Cell* word(size_t offset) const { return reinterpret_cast<Cell*>(words_.data()) + offset / 4; }
  Cell* byte(size_t offset) {
    if (!single_.data()) single_ = Pages(bytes_ * sizeof(Cell));
    return reinterpret_cast<Cell*>(single_.data()) + offset;
  }

  // Forgets everything, if that has not been done for `era`.
  void enter(unsigned era) {
    if (era == era_) return;
    era_ = era;
    words_.forget(0, words_.bytes());
    single_.forget(0, single_.bytes());
  }

 private:
  size_t bytes_;
  Pages words_, single_;
  unsigned era_ = 0;
};

class Checker {
 public:
  static constexpr size_t kSharedCapacity = 163 * 1024;  // what a block of sm_80 may have

  explicit Checker(const Execution& execution) : execution_(execution), shared_cells_(kSharedCapacity) {}
  void begin_launch(const Region& region, Cells& cells, const std::byte* shared);
  void begin_block();
  void barrier() { ++epochs_.now; }
  void fence() { ordering_.fence(execution_.thread, epochs_); }

  // Where what the next launches use is noted; null: nowhere.
  void set_uses(LaunchUses* uses) { uses_ = uses; }

  // An access of the running thread; throws if it is not allowed. Called before it happens.
  void global(const void* memory, unsigned bytes, Access how) {
    if (!region_->holds(memory, bytes)) outside(memory, bytes, how);
    const size_t offset = region_->offset(memory);
    if (uses_) uses_->note(offset, bytes, how == Access::write || how == Access::atomic);
    if (!quick({cells_, epochs_.launch, false}, offset, bytes, how)) slow_global(offset, memory, bytes, how);
  }
  void shared(const void* memory, unsigned bytes, Access how) {
    const auto offset = static_cast<size_t>(static_cast<const std::byte*>(memory) - shared_memory_);
    if (!quick({&shared_cells_, epochs_.block, true}, offset, bytes, how)) slow_shared(offset, memory, bytes, how);
  }
  // The running thread's copy to shared memory was issued.
  void pending(const void* memory, unsigned bytes);

 private:
  struct Space {
    Cells* cells;
    uint32_t oldest;  // what was done before this epoch does not count
    bool is_shared;
  };
  bool quick(const Space& space, size_t offset, unsigned bytes, Access how) const;
  void slow_global(size_t offset, const void* memory, unsigned bytes, Access how);
  void slow_shared(size_t offset, const void* memory, unsigned bytes, Access how);
  [[noreturn]] void outside(const void* memory, unsigned bytes, Access how) const;
  void access(const Space& space, size_t offset, const void* memory, unsigned bytes, Access how);
  bool allowed(const Space& space, const Cell& cell, Access how) const;
  void note(const Space& space, Cell& cell, Access how) const;
  void single_bytes(const Space& space, size_t offset, const void* memory, unsigned bytes, Access how);
  void initialised(const Space& space, size_t offset, const void* memory, unsigned bytes, Access how);
  [[noreturn]] void race(const Space& space, const Cell& cell, const void* memory, unsigned bytes, Access how) const;
  std::string describe(bool is_shared, const void* memory) const;
  void aligned(bool is_shared, const void* memory, unsigned bytes, Access how) const;

  const Execution& execution_;
  const Region* region_ = nullptr;
  const std::byte* shared_memory_ = nullptr;
  Cells shared_cells_;
  Cells* cells_ = nullptr;
  Epochs epochs_;
  unsigned era_ = 0;  // goes up when epochs begin anew
  Ordering ordering_;
  LaunchUses* uses_ = nullptr;
};

// True for the most common kind of access, which is then noted: words that only this thread, or none, has written in
// this epoch, and no other block in this launch. False says nothing.
inline bool Checker::quick(const Space& space, size_t offset, unsigned bytes, Access how) const {
  if (bytes % 4 != 0 || (offset & ((bytes & -bytes) - 1)) != 0) return false;
  const unsigned thread = execution_.thread;
  const uint32_t now = epochs_.now, block = epochs_.block;
  Cell* cell = space.cells->word(offset);
  for (Cell* const end = cell + bytes / 4; cell != end; ++cell) {
    const bool untouched = cell->written < space.oldest && !(space.is_shared && how != Access::write);
    const bool own =
        how != Access::read_cached && cell->written >= block && (cell->written != now || cell->writer == thread);
    if (cell->bytes || cell->pending || !(untouched || own)) return false;
    if (how == Access::read || how == Access::read_cached) {
      if (cell->read == now) {
        if (cell->reader != thread) cell->reader = kManyThreads;
        continue;
      }
      if (cell->read < space.oldest) cell->first_read = now;
      cell->read = now;
      cell->reader = thread;
    } else if (how == Access::write) {
      const bool read_before = cell->read >= space.oldest && cell->first_read < block;
      if (read_before || (cell->read == now && cell->reader != thread)) return false;
      cell->written = now;
      cell->writer = thread;
      cell->atomic = 0;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace retrace::cuda::emulation
