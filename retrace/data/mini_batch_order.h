#pragma once
// The order in which a queue delivers observations, and where its mini-batches begin and end.

#include <cstdint>
#include <vector>

#include "retrace/data/datastore.h"

namespace retrace {

// Mini-batches of `size` follow each other in the order, and a shorter one is the last. With buckets each mini-batch
// has observations of one bucket: the order is read from its start, and each observation goes into the mini-batch of
// its bucket that is open; one that is full is the next of the new order. Those that are still open at the end come
// last, that of the shortest bucket first.
class MiniBatchOrder {
 public:
  MiniBatchOrder() = default;
  // `buckets` are ascending lengths (DataSource::length()); longer observations are a bucket of their own.
  MiniBatchOrder(std::vector<int64_t> order, const DataSource& source, const std::vector<int64_t>& buckets,
                 int64_t size);

  const std::vector<int64_t>& indices() const { return indices_; }
  int64_t count() const { return static_cast<int64_t>(indices_.size()); }
  // Mini-batches from place `first`, at which one begins, to the end; without short ones if `whole`.
  int64_t mini_batches(int64_t first, int64_t size, bool whole) const;
  // Where the mini-batch ends that is `i` behind that which begins at `first`.
  int64_t end_of(int64_t first, int64_t i, int64_t size) const;
  // Whether a mini-batch begins at that place, or all end there.
  bool begins_at(int64_t place) const;
  // The length of the bucket of the mini-batch that begins at that place; -1: its observations stay whole.
  int64_t length_at(int64_t place) const;

 private:
  // The first mini-batch that ends behind that place.
  size_t batch_at(int64_t place) const;

  std::vector<int64_t> indices_;
  bool has_buckets_ = false;
  // With buckets: of each mini-batch.
  std::vector<int64_t> ends_, lengths_;
};

}  // namespace retrace
