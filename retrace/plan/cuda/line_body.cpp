#include "retrace/plan/cuda/line_body.h"

#include <algorithm>

#include "retrace/trace/op.h"

namespace retrace {

LineBody::LineBody(const Trace& trace) : body(trace), kinds(trace, Kind::number) {
  std::vector<Shape> shapes;
  for (const Node& node : body.nodes) {
    const LineForm form = line_form(body, node);
    roles.push_back(form.role), shapes.push_back(form.shape);
    if (shapes.size() == 1 || form.shape.back() > features) whole = form.shape, features = whole.back();
  }
  each = features >= 256 ? 16 : (features + 15) / 16;
  for (ValueId id : body.inputs) kinds[id] = kind_of_input(body.spec(id).shape);
  for (size_t n = 0; n < body.nodes.size(); ++n) {
    const Kind made = roles[n] == LineRole::sum      ? Kind::sum
                      : roles[n] == LineRole::number ? Kind::line
                      : shapes[n] == whole           ? Kind::elements
                                                     : Kind::line;
    for (int i = 0; i < body.nodes[n].output_count; ++i) kinds[body.nodes[n].first_output + i] = made;
  }
}

LineBody::Kind LineBody::kind_of_input(const Shape& shape) const {
  if (shape == whole) return Kind::elements;
  if (shape == number_of_line(whole)) return Kind::line;
  if (shape.count() == 1) return Kind::number;
  return features > 1 && shape.back() == 1 ? Kind::line : Kind::elements;
}

bool LineBody::has_sums() const { return std::find(roles.begin(), roles.end(), LineRole::sum) != roles.end(); }

int64_t LineBody::most_held() const {
  ValueMap<size_t> last(body, 0);
  for (size_t n = 0; n < body.nodes.size(); ++n)
    for (ValueId id : body.nodes[n].inputs) last[id] = n;
  int64_t most = 0;
  for (size_t n = 0; n < body.nodes.size(); ++n) {
    int64_t held = 0;
    for (size_t v = 0; v < body.values.size(); ++v) {
      const auto id = static_cast<ValueId>(v);
      const size_t p = body.producer_index(id);
      if (kinds[id] == Kind::elements && last[id] >= n && (p == kNoNode || p <= n)) held += each;
    }
    most = std::max(most, held);
  }
  return most;
}

}  // namespace retrace
