#include "retrace/data/mini_batch_order.h"

#include <algorithm>

namespace retrace {

MiniBatchOrder::MiniBatchOrder(std::vector<int64_t> order, const DataSource& source,
                               const std::vector<int64_t>& buckets, int64_t size)
    : indices_(std::move(order)), has_buckets_(!buckets.empty()) {
  if (!has_buckets_) return;
  std::vector<std::vector<int64_t>> open(buckets.size() + 1);
  std::vector<int64_t> made;
  made.reserve(indices_.size());
  const auto end_batch = [&](size_t bucket) {
    made.insert(made.end(), open[bucket].begin(), open[bucket].end());
    open[bucket].clear();
    ends_.push_back(static_cast<int64_t>(made.size()));
    lengths_.push_back(bucket < buckets.size() ? buckets[bucket] : -1);
  };
  for (const int64_t index : indices_) {
    const auto bucket =
        static_cast<size_t>(std::lower_bound(buckets.begin(), buckets.end(), source.length(index)) - buckets.begin());
    open[bucket].push_back(index);
    if (static_cast<int64_t>(open[bucket].size()) == size) end_batch(bucket);
  }
  for (size_t bucket = 0; bucket < open.size(); ++bucket)
    if (!open[bucket].empty()) end_batch(bucket);
  indices_ = std::move(made);
}

size_t MiniBatchOrder::batch_at(int64_t place) const {
  return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin());
}

int64_t MiniBatchOrder::mini_batches(int64_t first, int64_t size, bool whole) const {
  if (!has_buckets_) return whole ? (count() - first) / size : (count() - first + size - 1) / size;
  int64_t batches = 0, begin = first;
  for (size_t i = batch_at(first); i < ends_.size(); begin = ends_[i++]) batches += !whole || ends_[i] - begin == size;
  return batches;
}

int64_t MiniBatchOrder::end_of(int64_t first, int64_t i, int64_t size) const {
  if (has_buckets_) return ends_[batch_at(first) + static_cast<size_t>(i)];
  return std::min(first + (i + 1) * size, count());
}

bool MiniBatchOrder::begins_at(int64_t place) const {
  return !has_buckets_ || place == 0 || std::binary_search(ends_.begin(), ends_.end(), place);
}

int64_t MiniBatchOrder::length_at(int64_t place) const {
  return has_buckets_ && place < count() ? lengths_[batch_at(place)] : -1;
}

}  // namespace retrace
