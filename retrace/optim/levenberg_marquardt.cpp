#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/autodiff/gradient.h"
#include "retrace/base/fp_environment.h"
#include "retrace/ops/ops.h"
#include "retrace/optim/damped_step.h"
#include "retrace/optim/full_batch.h"
#include "retrace/optim/minimize.h"

namespace retrace {
namespace {

constexpr int64_t kMostParameters = 10'000;  // whose squares are numbers of H

[[noreturn]] void refuse_least_squares(const std::string& what, const std::string& got, const std::string& expected,
                                       Place place) {
  throw Error(ErrorKind::usage, 468, "levenberg_marquardt: " + what).where(place).got(got).expected(expected);
}

int64_t elements_of(const Tree& tree) {
  int64_t size = 0;
  for (const Tensor& leaf : leaf_tensors(tree)) size += leaf.size();
  return size;
}

void check_parameters(const Tree& parameters, Place place) {
  const auto named = leaves(parameters);
  if (named.empty()) refuse_least_squares("there are no parameters", "an empty tree", "one tensor or more", place);
  const auto is_wide = [](DType type) { return type == DType::f32 || type == DType::f64; };
  for (const auto& [name, tensor] : named)
    if (!is_wide(tensor.type()) || tensor.type() != named[0].second.type())
      refuse_least_squares(
          fmt::format("the type of {} does not fit", name.empty() ? "the parameters" : name), tensor.spec().text(),
          is_wide(named[0].second.type()) ? fmt::format("{}", name_of(named[0].second.type())) : "f32 or f64", place);
  if (elements_of(parameters) > kMostParameters)
    refuse_least_squares("there are too many parameters", fmt::format("{}", elements_of(parameters)),
                         fmt::format("at most {}: their squares are numbers of a matrix", kMostParameters), place);
}

void check_options(const LevenbergMarquardtOptions& options, Place place) {
  const auto check = [&](const char* name, double value, bool fits, const char* expected) {
    if (!fits) refuse_least_squares(name, fmt::format("{}", value), expected, place);
  };
  const double initial = options.initial_damping_factor, max = options.max_damping_factor;
  check("max_damping_factor", max, max > 0 && std::isfinite(max), "a positive number");
  check("initial_damping_factor", initial, initial > 0 && initial <= max, "a positive number, at most the maximum");
  check("damping_increase_factor", options.damping_increase_factor,
        options.damping_increase_factor > 1 && std::isfinite(options.damping_increase_factor), "a number above 1");
  check("damping_decrease_factor", options.damping_decrease_factor,
        options.damping_decrease_factor > 0 && options.damping_decrease_factor <= 1, "a number above 0 to 1");
}

Tensor residuals_at(const Residuals& residuals, const Tree& structure, const Tensor& x, Place place) {
  const Tensor r = residuals(as_leaves(structure, x));
  if (r.type() != x.type())
    refuse_least_squares("the residuals have another type than the parameters", r.spec().text(),
                         fmt::format("{}", name_of(x.type())), place);
  return reshape(r, {r.size()});
}

Tensor half_square(const Tensor& r) { return sum(square(r)) * 0.5; }

// Loss, J'r and J'J: the rows of J' are products with the derivative, one for each parameter, in one go.
QuadraticModel model_at(const Residuals& residuals, const Tree& structure, const Tensor& x, Place place) {
  const Tensor r = residuals_at(residuals, structure, x, place);
  const auto row = [&](const Tree& tangent) -> Tree {
    return jvp(residuals_at(residuals, structure, x, place), x, tangent.tensor(), place);
  };
  const Tree rows = vmap(row, Tensor::eye(x.size(), x.type()).to(x.device()));
  const Tensor transposed = rows.tensor();
  const Tensor gradient = sum(transposed * r, 1), loss = half_square(r);
  const Tensor curvature = matmul(transposed, transpose(transposed, {1, 0}));
  evaluate(Tree{{"gradient", gradient}, {"curvature", curvature}, {"loss", loss}});
  return {loss.number(), host_values(gradient), host_values(curvature)};
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

LevenbergMarquardtUpdate levenberg_marquardt_update(const Tree& parameters, const Residuals& residuals, double damping,
                                                    const LevenbergMarquardtOptions& options, Place place) {
  const FloatingPointScope floating_point;
  check_parameters(parameters, place);
  check_options(options, place);
  LevenbergMarquardtUpdate update;
  update.parameters = parameters;
  Tensor x = flat_leaves(parameters);
  evaluate(x);
  const QuadraticModel model = model_at(residuals, parameters, x, place);
  update.loss = model.loss, update.gradient_size = largest_of(model.gradient), update.evaluations = 1;
  update.damping = damping > 0 ? damping : options.initial_damping_factor;
  if (!std::isfinite(model.loss) || !std::isfinite(update.gradient_size))
    refuse_least_squares("the residuals or their derivatives are not finite",
                         fmt::format("loss {}, gradient {}", model.loss, update.gradient_size),
                         "finite numbers at the parameters to begin with", place);
  if (update.gradient_size == 0) return update;
  const auto step = damped_step(
      x, model, update.damping,
      {options.max_damping_factor, options.damping_increase_factor, options.damping_decrease_factor},
      [&](const Tensor& at) { return half_square(residuals_at(residuals, parameters, at, place)).number(); });
  update.evaluations += step.evaluations;
  update.damping = step.damping, update.loss = step.loss, update.step_size = step.size;
  if (step.x.defined()) update.parameters = as_leaves(parameters, step.x);
  evaluate(update.parameters, place);
  return update;
}

Minimum minimize_levenberg_marquardt(const Tree& parameters, const Residuals& residuals,
                                     const LevenbergMarquardtOptions& options, Place place) {
  Minimum found;
  found.parameters = parameters;
  double damping = 0;
  while (found.iterations < options.max_iterations) {
    const auto update = levenberg_marquardt_update(found.parameters, residuals, damping, options, place);
    found.evaluations += update.evaluations, found.loss = update.loss, ++found.iterations;
    found.parameters = update.parameters, damping = update.damping;
    const bool stop = options.output_function && options.output_function(found.iterations, update);
    if (update.gradient_size <= options.gradient_tolerance) return found.end = MinimizeEnd::gradient_tolerance, found;
    if (damping > options.max_damping_factor) return found.end = MinimizeEnd::max_damping, found;
    if (update.step_size <= options.step_tolerance) return found.end = MinimizeEnd::step_tolerance, found;
    if (stop) return found.end = MinimizeEnd::output_function, found;
  }
  return found;
}

}  // namespace retrace
