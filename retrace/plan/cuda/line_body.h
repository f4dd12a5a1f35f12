#pragma once
// The body of a chain of lines (cuda_lines.h): what its values are to a thread.

#include <cstdint>
#include <vector>

#include "retrace/plan/cuda/line_form.h"
#include "retrace/trace/trace_index.h"

namespace retrace {

// Nodes are what line_form() knows, none of them fused.
struct LineBody {
  explicit LineBody(const Trace& body);

  enum class Kind {
    number,    // one for all
    line,      // one for each line
    elements,  // of the lines, or what is repeated for them
    sum,       // over all lines
  };
  Kind kind(ValueId id) const { return kinds[id]; }
  LineRole role(const Node& node) const { return roles[static_cast<size_t>(&node - body.nodes.data())]; }
  // Elements that a thread holds of all values at a time, at most.
  int64_t most_held() const;
  int64_t lines() const { return whole.count() / features; }
  bool has_sums() const;

  const Trace& body;
  std::vector<LineRole> roles;  // per node
  Shape whole;                  // of the lines
  int64_t features = 1, each;   // elements of a line, and of those a thread's
  ValueMap<Kind> kinds;

 private:
  Kind kind_of_input(const Shape& shape) const;
};

}  // namespace retrace
