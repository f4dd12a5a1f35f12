#include "retrace/plan/passes/groups.h"

#include <algorithm>
#include <numeric>

#include "retrace/plan/tuning.h"

namespace retrace {

Groups::Groups(const Trace& trace, size_t most_members)
    : trace_(trace),
      most_members_(most_members),
      first_reader_(trace.nodes.size() + 2),
      leader_(trace.nodes.size()),
      members_(trace.nodes.size()),
      position_(trace.nodes.size()),
      seen_(trace.nodes.size()) {
  std::iota(leader_.begin(), leader_.end(), size_t{0});
  std::iota(position_.begin(), position_.end(), size_t{0});
  const auto for_each_edge = [&](auto use) {
    for (size_t n = 0; n < trace.nodes.size(); ++n)
      for (ValueId id : trace.nodes[n].inputs)
        if (const size_t p = trace.producer_index(id); p != kNoNode) use(p, n);
  };
  // Counted one place behind, so that filling them in moves each start to where it belongs.
  for_each_edge([&](size_t source, size_t) { ++first_reader_[source + 2]; });
  std::partial_sum(first_reader_.begin(), first_reader_.end(), first_reader_.begin());
  readers_.resize(first_reader_.back());
  for_each_edge([&](size_t source, size_t reader) { readers_[first_reader_[source + 1]++] = reader; });
  for (size_t n = 0; n < members_.size(); ++n) members_[n] = {n};
}

std::vector<size_t> Groups::sources(size_t group) const {
  std::vector<size_t> result;
  for (size_t n : members_[group])
    for (ValueId id : trace_.nodes[n].inputs)
      if (const size_t p = trace_.producer_index(id); p != kNoNode) result.push_back(leader_[p]);
  return result;
}

// Adds the groups between `from` and `to`, by position, that are connected with `from` in that direction. False if one
// of them leads to `to`, or if the search takes too long.
bool Groups::search(size_t from, size_t to, Direction direction, std::vector<size_t>& found) {
  ++searches_;
  size_t steps = 0;
  const bool forward = direction == Direction::readers;
  // Returns false at the end of the search.
  const auto visit = [&](size_t at, size_t node) {
    const size_t group = leader_[node];
    if (++steps > tuning::kMostSearchSteps || (group == to && at != from)) return false;
    const bool between = forward ? position_[group] < position_[to] : position_[group] > position_[to];
    if (group == from || group == to || !between || seen_[group] == searches_) return true;
    seen_[group] = searches_;
    found.push_back(group);
    return true;
  };
  size_t at = from;
  for (size_t next = 0;; at = found[next++]) {
    for (size_t n : members_[at]) {
      if (forward) {
        for (size_t i = first_reader_[n]; i < first_reader_[n + 1]; ++i)
          if (!visit(at, readers_[i])) return false;
      } else {
        for (ValueId id : trace_.nodes[n].inputs)
          if (const size_t p = trace_.producer_index(id); p != kNoNode && !visit(at, p)) return false;
      }
    }
    if (next == found.size()) return true;
  }
}

// The positions of all concerned, handed out anew: first what the reader needs, then the joined group, then what needs
// the source. (Pearce and Kelly's order under insertions.)
void Groups::reorder(size_t source, size_t reader, std::vector<size_t>& before, std::vector<size_t>& after) {
  const auto by_position = [&](size_t a, size_t b) { return position_[a] < position_[b]; };
  std::sort(before.begin(), before.end(), by_position);
  std::sort(after.begin(), after.end(), by_position);
  std::vector<size_t> free{position_[source], position_[reader]};
  for (const auto* groups : {&before, &after})
    for (size_t group : *groups) free.push_back(position_[group]);
  std::sort(free.begin(), free.end());
  for (size_t i = 0; i < before.size(); ++i) position_[before[i]] = free[i];
  position_[std::min(source, reader)] = free[before.size()];
  for (size_t i = 0; i < after.size(); ++i) position_[after[i]] = free[free.size() - after.size() + i];
}

std::string_view Groups::merge(size_t source, size_t reader) {
  if (source == reader) return "";
  if (members_[source].size() + members_[reader].size() > most_members_) return "the chain would be too long";
  std::vector<size_t> after, before;
  if (!search(source, reader, Direction::readers, after) || !search(reader, source, Direction::sources, before))
    return "another kernel runs between the two";
  reorder(source, reader, before, after);
  const size_t to = std::min(source, reader), from = std::max(source, reader);
  for (size_t n : members_[from]) leader_[n] = to;
  const auto middle = static_cast<std::ptrdiff_t>(members_[to].size());
  members_[to].insert(members_[to].end(), members_[from].begin(), members_[from].end());
  std::inplace_merge(members_[to].begin(), members_[to].begin() + middle, members_[to].end());
  members_[from].clear();
  return "";
}

std::vector<size_t> Groups::in_order() const {
  struct Open {
    size_t group;
    std::vector<size_t> sources;
    size_t next = 0;
  };
  std::vector<size_t> order;
  std::vector<bool> entered(leader_.size());
  std::vector<Open> open;
  const auto enter = [&](size_t group) {
    if (!entered[group]) open.push_back({group, sources(group)});
    entered[group] = true;
  };
  for (size_t n = 0; n < leader_.size(); ++n) {
    enter(leader_[n]);
    while (!open.empty()) {
      Open& last = open.back();
      if (last.next < last.sources.size()) {
        enter(last.sources[last.next++]);
      } else {
        order.push_back(last.group);
        open.pop_back();
      }
    }
  }
  return order;
}

}  // namespace retrace
