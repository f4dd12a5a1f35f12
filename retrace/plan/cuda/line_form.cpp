#include "retrace/plan/cuda/line_form.h"

#include <algorithm>

#include "retrace/ops/reduce/reduction.h"
#include "retrace/plan/cuda/cuda_chain.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

LineRole role_of_sum(const Shape& x, const Shape& axes) {
  const ReduceShape shape(x, axes);
  if (axes.rank() == 1 && axes[0] == x.rank() - 1) return x.back() > 1 ? LineRole::line_sum : LineRole::none;
  const bool over_lines = shape.by_column ? shape.channels == x.back() : true;
  const bool all = over_lines && shape.positions * shape.channels == x.count();
  return all && x.count() <= tuning::kMostSummedLines ? LineRole::sum : LineRole::none;
}

}  // namespace

LineForm line_form(const Trace& trace, const Node& node) {
  const TensorSpec& made = trace.spec(node.first_output);
  const auto of = [](LineRole role, const Shape& shape) -> LineForm {
    const bool fits = shape.rank() >= 2 && shape.count() > 0 && shape.count() < int64_t{1} << 31 &&
                      shape.back() <= tuning::kMostCudaLine;
    return fits && role != LineRole::none ? LineForm{role, shape} : LineForm{};
  };
  if (node.op->sum && !node.body) {
    const TensorSpec& x = trace.spec(node.inputs[0]);
    return x.type == DType::f32 && x.shape.rank() >= 2 && x.shape.count() > 0
               ? of(role_of_sum(x.shape, node.attributes.list("axes")), x.shape)
               : LineForm{};
  }
  if (node.op->cuda_element.text && !node.body)
    return of(
        made.type == DType::f32 && made.shape.rank() >= 2 && made.shape.back() > 1 ? LineRole::element : LineRole::none,
        made.shape);
  if (!node.op->cuda_line.function.empty()) {
    const bool last = node.attributes.integer("axis") == made.shape.rank() - 1 && made.type == DType::f32;
    return of(last && made.shape.back() > 1 ? LineRole::line : LineRole::none, made.shape);
  }
  return of(is_float_chain(trace, node) ? LineRole::rule : LineRole::none, made.shape);
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
