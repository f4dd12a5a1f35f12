#include "retrace/plan/cuda/launch_edges.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace retrace {

// Calls visit(segment) for segments that make up the range; those that do not exist yet are made.
template <class Visit>
void LaunchEdges::visit(const MemoryRange& range, Visit visit) {
  Space& space = spaces_[range.space];
  const auto split = [&](size_t at) {
    auto found = space.upper_bound(at);
    if (found == space.begin()) return;
    --found;
    if (found->first == at || found->second.end <= at) return;
    Segment behind = found->second;
    found->second.end = at;
    space.emplace(at, std::move(behind));
  };
  split(range.begin), split(range.end);
  for (size_t at = range.begin; at < range.end;) {
    auto found = space.lower_bound(at);
    if (found == space.end() || found->first > at) {
      const size_t end = found == space.end() ? range.end : std::min(range.end, found->first);
      found = space.emplace(at, Segment{end}).first;
    }
    visit(found->second);
    at = found->second.end;
  }
}

void LaunchEdges::add(size_t launches, std::span<const MemoryRange> reads, std::span<const MemoryRange> writes) {
  if (launches == 0) return;
  const size_t first = edges_.size(), last = first + launches - 1;
  std::vector<size_t> candidates;
  const auto note_writer = [&](const Segment& segment) {
    if (segment.writer) candidates.push_back(*segment.writer);
  };
  for (const auto& range : reads) visit(range, note_writer);
  for (const auto& range : writes)
    visit(range, [&](const Segment& segment) {
      note_writer(segment);
      candidates.insert(candidates.end(), segment.readers.begin(), segment.readers.end());
    });
  connect(first, std::move(candidates));
  for (size_t launch = first + 1; launch <= last; ++launch) connect(launch, {launch - 1});
  for (const auto& range : reads) visit(range, [&](Segment& segment) { segment.readers.push_back(last); });
  for (const auto& range : writes)
    visit(range, [&](Segment& segment) { segment.writer = last, segment.readers.clear(); });
}

void LaunchEdges::cut() {
  first_ = edges_.size();
  before_.clear();
  spaces_.clear();
}

bool LaunchEdges::is_before(size_t earlier, size_t launch) const {
  const auto& bits = before_[launch - first_];
  const size_t word = (earlier - first_) / 64;
  return word < bits.size() && (bits[word] >> (earlier - first_) % 64 & 1) != 0;
}

// The last candidate first: what it waits for needs no edge of its own.
void LaunchEdges::connect(size_t launch, std::vector<size_t> candidates) {
  std::sort(candidates.begin(), candidates.end(), std::greater<>());
  auto& edges = edges_.emplace_back();
  before_.emplace_back((launch - first_) / 64 + 1);
  auto& bits = before_.back();
  for (const size_t candidate : candidates) {
    if (is_before(candidate, launch)) continue;
    edges.push_back(candidate);
    const auto& others = before_[candidate - first_];
    for (size_t i = 0; i < others.size(); ++i) bits[i] |= others[i];
    bits[(candidate - first_) / 64] |= uint64_t{1} << (candidate - first_) % 64;
  }
  std::reverse(edges.begin(), edges.end());
}

}  // namespace retrace
