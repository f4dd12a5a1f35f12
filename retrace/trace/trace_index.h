#pragma once
// What passes look up in a trace that they do not change: something for each value, and who reads it.

#include <span>
#include <utility>
#include <vector>

#include "retrace/trace/trace.h"

namespace retrace {

// A T for each value of a trace.
template <class T>
class ValueMap {
 public:
  ValueMap() = default;
  explicit ValueMap(const Trace& trace, const T& start = {}) : all_(trace.values.size(), start) {}
  decltype(auto) operator[](ValueId id) { return all_[static_cast<size_t>(id)]; }
  decltype(auto) operator[](ValueId id) const { return all_[static_cast<size_t>(id)]; }

 private:
  std::vector<T> all_;
};

// The value whose bytes a value has, which is no view.
ValueMap<ValueId> find_roots(const Trace& trace);

class TraceIndex {
 public:
  explicit TraceIndex(const Trace& trace);

  // How often a value is read, by nodes and as an output of the trace.
  int uses(ValueId id) const { return uses_[id]; }
  bool is_output(ValueId id) const { return is_output_[id]; }
  // The nodes that read a value, ascending, each once.
  std::span<const size_t> readers(ValueId id) const {
    const auto [first, end] = readers_[id];
    return std::span(all_readers_).subspan(first, end - first);
  }
  // The value whose bytes a value has: of a view what it shows.
  ValueId root(ValueId id) const { return roots_[id]; }

 private:
  ValueMap<int> uses_;
  ValueMap<bool> is_output_;
  ValueMap<ValueId> roots_;
  ValueMap<std::pair<size_t, size_t>> readers_;  // where a value's readers begin and end
  std::vector<size_t> all_readers_;
};

}  // namespace retrace
