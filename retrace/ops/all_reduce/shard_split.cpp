#include "retrace/ops/all_reduce/shard_split.h"

#include <algorithm>
#include <bit>

namespace retrace {

ShardSplit ShardSplit::of(const Attributes& attributes) {
  return {attributes.integer("shards"), attributes.integer("present"), attributes.integer("workers"),
          attributes.integer("worker")};
}

Attributes ShardSplit::attributes() const {
  return {{"shards", shards}, {"present", present}, {"workers", workers}, {"worker", worker}};
}

Range ShardSplit::of_worker(int64_t w) const {
  const Range all = part_of(shards, workers, w);
  return {all.first, std::clamp<int64_t>(present - all.first, 0, all.count)};
}

std::vector<Range> ShardSplit::runs(int64_t w) const {
  const Range mine = of_worker(w);
  if (mine.first == 0 && mine.count == present) return {mine};
  std::vector<Range> found;
  for (int64_t at = mine.first, end = mine.first + mine.count; at < end;) {
    const auto left = std::bit_floor(static_cast<uint64_t>(end - at));
    const uint64_t aligned = at == 0 ? left : uint64_t{1} << std::countr_zero(static_cast<uint64_t>(at));
    found.push_back({at, static_cast<int64_t>(std::min(left, aligned))});
    at += found.back().count;
  }
  return found;
}

std::vector<Range> ShardSplit::all_runs() const {
  std::vector<Range> all;
  for (int64_t w = 0; w < workers; ++w)
    for (const Range& run : runs(w)) all.push_back(run);
  return all;
}

}  // namespace retrace
