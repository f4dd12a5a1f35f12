#pragma once
// Which launches of a plan wait for which: those that use the same memory, one of them writing.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "retrace/device/cuda/runtime.h"

namespace retrace {

// Bytes of a space of addresses of its own: the arena, an input, an output.
struct MemoryRange {
  size_t space, begin, end;
};

// Launches are added in the order of the plan. Each waits for the earlier ones that wrote what it uses, and for those
// that read what it writes; for none that another of them waits for already.
class LaunchEdges {
 public:
  // So many launches of one node, each after the one before; they may use these ranges in any of them.
  void add(size_t launches, std::span<const MemoryRange> reads, std::span<const MemoryRange> writes);
  // What comes is ordered behind all that was added, by the caller.
  void cut();
  const cuda::Edges& edges() const { return edges_; }

 private:
  struct Segment {  // from its key to `end`
    size_t end;
    std::optional<size_t> writer = {};
    std::vector<size_t> readers = {};  // since it was written
  };
  using Space = std::map<size_t, Segment>;

  template <class Visit>
  void visit(const MemoryRange& range, Visit visit);
  void connect(size_t launch, std::vector<size_t> candidates);
  bool is_before(size_t earlier, size_t launch) const;

  cuda::Edges edges_;
  size_t first_ = 0;                           // the launch behind the last cut
  std::vector<std::vector<uint64_t>> before_;  // of each launch since: a bit for each that comes before it
  std::map<size_t, Space> spaces_;
};

}  // namespace retrace
