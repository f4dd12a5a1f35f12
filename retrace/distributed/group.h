#pragma once
// With whom: a group of processes or threads that work on one job, and one member's view of it.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace retrace {

class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // all[r * bytes ...] = the bytes given by rank r. Every rank calls it with the same size.
  virtual void all_gather(const void* mine, size_t bytes, void* all) = 0;
  virtual void barrier() = 0;
};

// A group of one: every collective is the identity.
std::shared_ptr<Group> single_group();

struct Range {
  int64_t first = 0, count = 0;
};
// Part i of n items cut into `parts` contiguous pieces; the first n mod parts pieces have one item more.
Range part_of(int64_t n, int64_t parts, int64_t i);

// What a program that runs on a pool sees of it.
class Worker {
 public:
  explicit Worker(std::shared_ptr<Group> group = single_group()) : group_(std::move(group)) {}
  int rank() const { return group_->rank(); }
  int size() const { return group_->size(); }
  Group& group() const { return *group_; }
  // True if every worker says so; every worker must call it.
  bool all(bool mine) const;
  // This worker's contiguous run of `shards`. Throws Error(usage) if there are more workers than shards.
  Range shards(int shards) const;

 private:
  std::shared_ptr<Group> group_;
};

}  // namespace retrace
