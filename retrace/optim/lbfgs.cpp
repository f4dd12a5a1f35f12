#include "retrace/optim/minimize.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "retrace/base/fp_environment.h"
#include "retrace/ops/abs/abs.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/optim/full_batch.h"

namespace retrace {
namespace {

constexpr double kDecrease = 1e-4, kFlatness = 0.9;  // of the line search
constexpr double kCurvature = 1e-10;                 // of a pair that is kept

[[noreturn]] void refuse(const std::string& what, const std::string& got, const std::string& expected, Place place) {
  throw Error(ErrorKind::usage, 270, "lbfgs: " + what).where(place).got(got).expected(expected);
}

void check(const Tree& parameters, const LbfgsOptions& options, Place place) {
  const auto named = leaves(parameters);
  if (named.empty()) refuse("there are no parameters", "an empty tree", "one tensor or more", place);
  const auto is_wide = [](DType type) { return type == DType::f32 || type == DType::f64; };
  for (const auto& [name, tensor] : named)
    if (!is_wide(tensor.type()) || tensor.type() != named[0].second.type())
      refuse(fmt::format("the type of {} does not fit", name.empty() ? "the parameters" : name), tensor.spec().text(),
             is_wide(named[0].second.type()) ? fmt::format("{}", name_of(named[0].second.type())) : "f32 or f64",
             place);
  if (options.history_size < 1) refuse("history_size", fmt::format("{}", options.history_size), "1 or more", place);
  if (options.max_line_search_iterations < 1)
    refuse("max_line_search_iterations", fmt::format("{}", options.max_line_search_iterations), "1 or more", place);
  for (const double number : {options.initial_inverse_hessian_factor, options.initial_step_size.value_or(1)})
    if (!(number > 0 && std::isfinite(number)))
      refuse("a size to begin with", fmt::format("{}", number), "a positive number", place);
}

Tensor dot(const Tensor& a, const Tensor& b) { return sum(multiply(a, b)); }

// -H g by the two loops.
Tensor direction(const LbfgsState& state, const Tensor& gradient, double first_factor) {
  const size_t count = state.steps.size();
  if (count == 0) return gradient * -first_factor;
  std::vector<Tensor> products, shares(count);
  for (size_t i = 0; i < count; ++i) products.push_back(dot(state.steps[i], state.gradient_steps[i]));
  Tensor q = gradient;
  for (size_t i = count; i-- > 0;) {
    shares[i] = dot(state.steps[i], q) / products[i];
    q = q - shares[i] * state.gradient_steps[i];
  }
  const Tensor& newest = state.gradient_steps.back();
  Tensor r = q * (products.back() / dot(newest, newest));
  for (size_t i = 0; i < count; ++i)
    r = r + (shares[i] - dot(state.gradient_steps[i], r) / products[i]) * state.steps[i];
  return -r;
}

struct Point {
  double length = 0, loss = 0, slope = 0;
  int64_t evaluation = -1;  // along the line
  Tensor x, gradient;
};

// Along a direction from a point, whose length is 0.
class Line {
 public:
  Line(const Tree& structure, const LossAndGradients& loss, const LbfgsOptions& options, Tensor d)
      : structure_(structure), loss_(loss), options_(options), d_(std::move(d)) {}

  // A point that is better by the conditions of the search, or at least falls enough; length 0: there is none.
  Point search(const Point& start, double length) {
    start_ = start;
    return options_.line_search == LineSearch::strong_wolfe ? bracket(length) : bisect(length);
  }
  int64_t evaluations() const { return evaluations_; }

 private:
  Point at(double length) {
    Point point;
    point.evaluation = evaluations_++;
    point.length = length;
    point.x = start_.x + d_ * length;
    const auto [value, gradients] = loss_(as_leaves(structure_, point.x));
    point.gradient = flat_leaves(gradients);
    point.loss = value.number(), point.slope = dot(point.gradient, d_).number();
    return point;
  }
  bool is_left() const { return evaluations_ < options_.max_line_search_iterations; }
  bool falls(const Point& point) const {
    return point.loss <= start_.loss + kDecrease * point.length * start_.slope && std::isfinite(point.slope);
  }
  bool is_flat(const Point& point) const { return std::abs(point.slope) <= kFlatness * -start_.slope; }

  Point bisect(double length) {
    Point best = start_;
    double low = 0, high = std::numeric_limits<double>::infinity();
    while (is_left()) {
      const Point point = at(length);
      if (falls(point)) {
        best = point, low = length;
        if (options_.line_search == LineSearch::backtracking || point.slope >= kFlatness * start_.slope) break;
      } else {
        high = length;
      }
      length = std::isinf(high) ? 2 * low : (low + high) / 2;
    }
    return best;
  }

  Point bracket(double length) {
    Point before = start_;
    while (is_left()) {
      const Point point = at(length);
      if (!falls(point) || (before.length > 0 && point.loss >= before.loss)) return zoom(before, point);
      if (is_flat(point)) return point;
      if (point.slope >= 0) return zoom(point, before);
      before = point, length *= 2;
    }
    return before;
  }

  Point zoom(Point low, Point high) {
    while (is_left()) {
      const Point point = at((low.length + high.length) / 2);
      if (!falls(point) || point.loss >= low.loss) {
        high = point;
        continue;
      }
      if (is_flat(point)) return point;
      if (point.slope * (high.length - low.length) >= 0) high = low;
      low = point;
    }
    return low;
  }

  const Tree& structure_;
  const LossAndGradients& loss_;
  const LbfgsOptions& options_;
  const Tensor d_;
  Point start_;
  int64_t evaluations_ = 0;
};

double first_length(const LbfgsState& state, const Tensor& gradient, const LbfgsOptions& options) {
  if (!state.steps.empty()) return 1;
  return options.initial_step_size ? *options.initial_step_size : std::min(1.0, 1 / sum(abs(gradient)).number());
}

void keep_pair(LbfgsState& state, const Tensor& step, const Tensor& gradient_step, int64_t most) {
  const double curvature = dot(step, gradient_step).number(), size = dot(gradient_step, gradient_step).number();
  if (!(curvature > kCurvature * size)) return;
  state.steps.push_back(step), state.gradient_steps.push_back(gradient_step);
  if (std::ssize(state.steps) <= most) return;
  state.steps.erase(state.steps.begin()), state.gradient_steps.erase(state.gradient_steps.begin());
}

}  // namespace

LbfgsUpdate lbfgs_update(const Tree& parameters, const LossAndGradients& loss, const LbfgsState& state,
                         const LbfgsOptions& options, Place place) {
  const FloatingPointScope floating_point;
  check(parameters, options, place);
  LbfgsUpdate update;
  update.parameters = parameters, update.state = state;
  Point start{.loss = state.loss, .x = flat_leaves(parameters), .gradient = state.gradient};
  if (!start.gradient.defined()) {
    const auto [value, gradients] = loss(parameters);
    start.gradient = flat_leaves(gradients), start.loss = value.number();
    ++update.evaluations;
  }
  update.state.gradient = start.gradient, update.state.loss = start.loss;
  Tensor d = direction(update.state, start.gradient, options.initial_inverse_hessian_factor);
  start.slope = dot(start.gradient, d).number();
  if (!(start.slope < 0)) {  // no way down: the pairs say nothing any more
    update.state.steps.clear(), update.state.gradient_steps.clear();
    d = direction(update.state, start.gradient, options.initial_inverse_hessian_factor);
    start.slope = dot(start.gradient, d).number();
  }
  if (!std::isfinite(start.loss) || !std::isfinite(start.slope))
    refuse("the loss or its gradient is not finite", fmt::format("loss {}, slope {}", start.loss, start.slope),
           "finite numbers at the parameters to begin with", place);
  Line line(parameters, loss, options, d);
  const Point found = start.slope < 0 ? line.search(start, first_length(update.state, start.gradient, options)) : start;
  if (found.evaluation >= 0) update.evaluation = update.evaluations + found.evaluation;
  update.evaluations += line.evaluations();
  update.loss = found.loss, update.gradient_size = largest_size(found.gradient);
  if (found.length == 0) return update;
  const Tensor step = found.x - start.x;
  update.step_size = largest_size(step);
  keep_pair(update.state, step, found.gradient - start.gradient, options.history_size);
  update.parameters = as_leaves(parameters, found.x);
  update.state.gradient = found.gradient, update.state.loss = found.loss;
  evaluate(update.parameters, place);
  return update;
}

Minimum minimize_lbfgs(const Tree& parameters, const LossAndGradients& loss, const MinimizeOptions& options,
                       Place place) {
  Minimum found;
  found.parameters = parameters;
  LbfgsState state;
  while (found.iterations < options.max_iterations) {
    LbfgsUpdate update = lbfgs_update(found.parameters, loss, state, options.lbfgs, place);
    ++found.iterations;
    found.parameters = update.parameters, found.loss = update.loss, found.evaluations += update.evaluations;
    const bool stop = options.output_function && options.output_function(found.iterations, update);
    state = std::move(update.state);
    if (update.gradient_size <= options.gradient_tolerance) return found.end = MinimizeEnd::gradient_tolerance, found;
    if (update.step_size <= options.step_tolerance) return found.end = MinimizeEnd::step_tolerance, found;
    if (stop) return found.end = MinimizeEnd::output_function, found;
  }
  return found;
}

}  // namespace retrace
