#include "retrace/plan/cuda/line_form.h"

#include <algorithm>

#include "retrace/ops/reduce/reduction.h"
#include "retrace/plan/cuda/cuda_chain.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

// Of a sum over the lines.
LineRole role_of_sum(const Shape& x, const Shape& axes) {
  const ReduceShape shape(x, axes);
  const bool over_lines = shape.by_column ? shape.channels == x.back() : true;
  const bool all = over_lines && shape.positions * shape.channels == x.count();
  return all && x.count() <= tuning::kMostSummedLines ? LineRole::sum : LineRole::none;
}

LineRole role_along_last(const Node& node, const Shape& x) {
  const int last = x.rank() - 1;
  if (node.op->cuda_line.function.empty() || x.back() == 1) return LineRole::none;
  for (const Attribute& attribute : node.attributes.entries()) {
    if (attribute.name == "axis" && node.attributes.integer("axis") == last) return LineRole::line;
    if (attribute.name == "axes" && node.attributes.list("axes") == Shape{last}) return LineRole::number;
  }
  return LineRole::none;
}

// Of a node without a body, of whose lines or sums x is the array.
LineRole role_of(const Node& node, const TensorSpec& x) {
  if (x.type != DType::f32 || x.shape.rank() < 2 || x.shape.count() == 0) return LineRole::none;
  if (node.op->cuda_element.text) return x.shape.back() > 1 ? LineRole::element : LineRole::none;
  const LineRole role = role_along_last(node, x.shape);
  if (role != LineRole::none || !node.op->sum) return role;
  return role_of_sum(x.shape, node.attributes.list("axes"));
}

}  // namespace

LineForm line_form(const Trace& trace, const Node& node) {
  const TensorSpec& made = trace.spec(node.first_output);
  const bool rule = is_float_chain(trace, node);
  if (!rule && (node.body || node.inputs.empty())) return {};
  const TensorSpec& whole = rule || node.op->cuda_element.text ? made : trace.spec(node.inputs[0]);
  const LineRole role = rule ? LineRole::rule : role_of(node, whole);
  const Shape& shape = whole.shape;
  const bool fits = shape.rank() >= 2 && shape.count() > 0 && shape.count() < int64_t{1} << 31 &&
                    shape.back() <= tuning::kMostCudaLine;
  return fits && role != LineRole::none ? LineForm{role, shape} : LineForm{};
}

bool are_beside(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  const bool last = a.back() == b.back() || a.back() == 1 || b.back() == 1;
  return last && std::equal(a.begin(), a.end() - 1, b.begin());
}

Shape number_of_line(Shape lines) {
  lines[lines.rank() - 1] = 1;
  return lines;
}

bool is_total(const Trace& trace, const Node& sum) {
  return !ReduceShape(trace.spec(sum.inputs[0]).shape, sum.attributes.list("axes")).by_column;
}

}  // namespace retrace
