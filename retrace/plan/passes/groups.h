#pragma once
// A partition of a trace's nodes into groups that can be computed one after another: no two need each other.

#include <string_view>
#include <vector>

#include "retrace/trace/trace.h"

namespace retrace {

// A group is named by its first node. At first each node is a group of its own.
class Groups {
 public:
  Groups(const Trace& trace, size_t most_members);

  size_t of(size_t node) const { return leader_[node]; }
  const std::vector<size_t>& members(size_t group) const { return members_[group]; }  // ascending
  // The groups that make what a group reads, in the order of reading; itself among them.
  std::vector<size_t> sources(size_t group) const;
  // Joins a group with one that reads it, unless they have too many nodes or the reader needs the other through a
  // third. Where more than tuning::kMostSearchSteps edges would have to be followed to know, they stay apart: time is
  // linear in the trace. Returns "", or why they stay apart.
  std::string_view merge(size_t source, size_t reader);
  // The same of two groups of which neither need read the other.
  std::string_view merge_beside(size_t a, size_t b) { return position_[a] < position_[b] ? merge(a, b) : merge(b, a); }
  // All groups, each after those that it needs; else by their first nodes.
  std::vector<size_t> in_order() const;

 private:
  enum class Direction { sources, readers };
  bool search(size_t from, size_t to, Direction direction, std::vector<size_t>& found);
  void reorder(size_t source, size_t reader, std::vector<size_t>& before, std::vector<size_t>& after);

  const Trace& trace_;
  size_t most_members_;
  std::vector<size_t> first_reader_;  // per node: its readers are readers_[first_reader_[n]] to those of the next node
  std::vector<size_t> readers_;
  std::vector<size_t> leader_;  // per node
  std::vector<std::vector<size_t>> members_;
  std::vector<size_t> position_;  // per group: ascends from what is needed to what needs it
  std::vector<size_t> seen_;      // per group: the number of the search that saw it last
  size_t searches_ = 0;
};

}  // namespace retrace
