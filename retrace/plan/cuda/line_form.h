#pragma once
// What goes line by line: nodes of which a line of the result, the elements along the last axis, needs lines of the
// arguments at the same place, and sums of such lines. On a CUDA device they can be one kernel (cuda_lines.h).

#include <cstdint>

#include "retrace/trace/trace.h"

namespace retrace {

enum class LineRole {
  none,     // it is not known to
  rule,     // pointwise, in f32
  element,  // the op makes an element of what is in memory (Op::cuda_element)
  line,     // the op states how a line is made (Op::cuda_line)
  number,   // the same of numbers of each line
  sum,      // over all lines: of each element of a line, or of all elements
};

struct LineForm {
  LineRole role = LineRole::none;
  Shape shape = {};  // of the lines that it makes, or reads if it is a sum
};

// Of a node of a trace on a CUDA device.
LineForm line_form(const Trace& trace, const Node& node);
// Whether both are lines at the same places: of one shape, or one of them has one number for each line of the other.
bool are_beside(const Shape& a, const Shape& b);
// The shape of one number for each line.
Shape number_of_line(Shape lines);
// Whether a sum over all lines is one of all elements.
bool is_total(const Trace& trace, const Node& sum);

}  // namespace retrace
