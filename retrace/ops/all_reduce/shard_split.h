#pragma once
// Who has which shards, and the subtrees of the contract's tree over the shards that each worker can compute alone.

#include <cstdint>
#include <vector>

#include "retrace/base/range.h"
#include "retrace/trace/attributes.h"

namespace retrace {

// `shards` are split over `workers` (part_of); those from `present` on have no samples, and are absent.
struct ShardSplit {
  int64_t shards = 1, present = 1, workers = 1, worker = 0;

  static ShardSplit of(const Attributes& attributes);
  Attributes attributes() const;

  // The present shards of a worker.
  Range of_worker(int64_t w) const;
  // The subtrees that they make up (docs/numerics.md 0): all of the tree, or maximal aligned runs of a power of two.
  std::vector<Range> runs(int64_t w) const;
  std::vector<Range> all_runs() const;  // of all workers in order
};

// The tree over runs: left is the next item in place, so that items[0] becomes the root. add(a, b) makes a = a + b.
template <class Item, class Add>
void combine_runs(const std::vector<Range>& runs, std::vector<Item>& items, const Add& add) {
  std::vector<size_t> stack;  // items that wait for their right neighbour
  std::vector<int64_t> size;  // and how many shards they hold
  for (size_t i = 0; i < runs.size(); ++i) {
    stack.push_back(i), size.push_back(runs[i].count);
    const bool last = i + 1 == runs.size();
    while (stack.size() > 1 && (last || size[size.size() - 2] == size.back())) {
      add(items[stack[stack.size() - 2]], items[stack.back()]);
      stack.pop_back();
      const int64_t merged = size.back();
      size.pop_back();
      size.back() += merged;
    }
  }
}

}  // namespace retrace
