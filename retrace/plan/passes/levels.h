#pragma once
// When pointwise work is done: levels are counted by the large kernels in between.

#include <string_view>
#include <vector>

#include "retrace/trace/trace_index.h"

namespace retrace {

class Levels {
 public:
  Levels(const Trace& trace, int64_t large);  // elements of a value that does not stay in the cache

  // Whether two nodes, a producer and its reader, are pointwise at one shape; or else why not.
  bool neighbours(size_t producer, size_t reader) const { return strangers(producer, reader).empty(); }
  std::string_view strangers(size_t producer, size_t reader) const;
  // The level of a node as early as possible, and as late as its readers allow.
  int earliest(size_t node) const { return earliest_[node]; }
  int latest(size_t node) const { return latest_[node]; }
  // Read by another op than a pointwise one of the same shape, or returned: in memory whatever planning does.
  bool kept(ValueId id) const { return kept_[id]; }

 private:
  bool pointwise(const Node& node) const;
  bool between(size_t producer, size_t reader) const;

  const Trace& trace_;
  bool cuda_;
  int64_t large_;
  ValueMap<bool> kept_;
  std::vector<int> earliest_, latest_;
};

}  // namespace retrace
