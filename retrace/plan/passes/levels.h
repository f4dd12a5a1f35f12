#pragma once
// When pointwise work is done: levels are counted by the large kernels in between.

#include <string_view>
#include <vector>

#include "retrace/trace/trace.h"

namespace retrace {

constexpr int64_t kLargeValue = 16'384;  // elements: smaller values stay in the cache

class Levels {
 public:
  explicit Levels(const Trace& trace);

  // Whether two nodes, a producer and its reader, are pointwise at one shape; or else why not.
  bool neighbours(size_t producer, size_t reader) const { return strangers(producer, reader).empty(); }
  std::string_view strangers(size_t producer, size_t reader) const;
  // The level of a node as early as possible, and as late as its readers allow.
  int earliest(size_t node) const { return earliest_[node]; }
  int latest(size_t node) const { return latest_[node]; }
  // Read by another op than a pointwise one of the same shape, or returned: in memory whatever planning does.
  bool kept(ValueId id) const { return kept_[static_cast<size_t>(id)]; }

 private:
  bool between(int32_t producer, size_t reader) const;

  const Trace& trace_;
  std::vector<bool> kept_;
  std::vector<int> earliest_, latest_;
};

}  // namespace retrace
