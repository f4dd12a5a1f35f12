#include <algorithm>
#include <cmath>

#include "retrace/base/fp_environment.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/square/square.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/optim/adam_solver.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

// Whether one of the texts is a part of the path.
bool is_named(const std::string& path, const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), [&](const auto& text) { return path.find(text) != path.npos; });
}

struct Parts {
  std::vector<size_t> matrices, others;  // of the parameters, in the order of leaves()
};

Parts parts_of(const Tree& parameters, const OptionValues& options) {
  const auto named = leaves(parameters);
  Parts parts;
  for (size_t i = 0; i < named.size(); ++i) {
    const auto& [path, w] = named[i];
    const bool other = w.shape().rank() < 2 || is_named(path, options.texts("adamw_parameters"));
    (other ? parts.others : parts.matrices).push_back(i);
  }
  return parts;
}

Tree initial_muon(const Tree& parameters, const OptionValues& options) {
  const Parts parts = parts_of(parameters, options);
  return {{"mean", zeros_like(part_of(parameters, parts.matrices))},
          {"adamw", initial_adam_state(part_of(parameters, parts.others), options)}};
}

// The last axis against all others.
Shape matrix_shape(const Shape& shape) { return {shape.count(0, shape.rank() - 1), shape.back()}; }

// Near the orthogonal matrix U V' of the singular value decomposition U S V' of x: x / max(|x|, 1e-7), then
// `iterations` times y <- a y + (b A + c A A) y with A = y y', or the same from the right, y (...) with A = y' y, where
// x has more rows than columns.
Tensor orthogonal(const Tensor& x, int64_t iterations) {
  const auto number = [&](double value) { return Tensor::full(value, {}, x.type()); };
  const bool tall = x.shape()[0] > x.shape()[1];
  Tensor y = divide(x, maximum(sqrt(sum(square(x))), number(1e-7)));
  for (int64_t i = 0; i < iterations; ++i) {
    const Tensor gram = tall ? matmul(y, y, {.transpose_a = true}) : matmul(y, y, {.transpose_b = true});
    const Tensor factor = add(multiply(number(-4.775), gram), multiply(number(2.0315), matmul(gram, gram)));
    y = add(multiply(number(3.4445), y), tall ? matmul(y, factor) : matmul(factor, y));
  }
  return y;
}

// mean <- b mean + (1 - b) g;  u = (1 - b) g + b mean;
// w <- w (1 - rate * weight_decay) - rate * (0.2 sqrt(max(rows, columns))) * orthogonal(u)
SolverUpdate matrix_step(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                         const OptionValues& options) {
  auto weights = leaf_tensors(decayed_weights(parameters, learn_rate, options.number("weight_decay")));
  auto mean = state_leaves("muon", "mean", parameters, state, {});
  const auto gradient = leaf_tensors(gradients);
  Number rate(learn_rate);
  for (size_t i = 0; i < weights.size(); ++i) {
    const DType type = weights[i].type();
    const double b = rounded_to(type, options.number("momentum"));
    mean[i] = moving_mean(mean[i], gradient[i], b);
    const Tensor decay = Tensor::full(b, {}, type), rest = Tensor::full(1 - b, {}, type);
    const Tensor u = add(multiply(rest, gradient[i]), multiply(decay, mean[i]));
    const Shape shape = u.shape(), flat = matrix_shape(shape);
    const double scale = 0.2 * std::sqrt(static_cast<double>(std::max(flat[0], flat[1])));
    const Tensor step = reshape(orthogonal(reshape(u, flat), options.integer("newton_schulz_iterations")), shape);
    weights[i] = subtract(weights[i], multiply(multiply(rate.as(type), Tensor::full(scale, {}, type)), step));
  }
  return {with_leaves(parameters, weights), with_leaves(parameters, mean)};
}

SolverUpdate update_muon(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                         const OptionValues& options) {
  const FloatingPointScope floating_point;
  check_gradients("muon", parameters, gradients, {});
  const auto [matrices, others] = parts_of(parameters, options);
  const auto first =
      matrix_step(part_of(parameters, matrices), part_of(gradients, matrices), state["mean"], learn_rate, options);
  const Tree rest = decayed_weights(part_of(parameters, others), learn_rate, options.number("weight_decay"));
  const auto second = adam_step(rest, part_of(gradients, others), state["adamw"], learn_rate, options);
  return {with_part(with_part(parameters, matrices, first.parameters), others, second.parameters),
          {{"mean", first.state}, {"adamw", second.state}}};
}

}  // namespace

SolverKind muon_solver() {
  return {
      .name = "muon",
      .help = "matrices step by orthogonal matrices, other parameters by adamw (Jordan, 2024; Liu and others, 2025)",
      .learn_rate = 0.001,
      .options = adam_rules(
          {weight_decay_rule(0.1),
           {.name = "momentum", .help = "of the mean of the gradients of a matrix", .standard = 0.95, .high = 1},
           {.name = "newton_schulz_iterations",
            .help = "how often a step is made more orthogonal",
            .standard = int64_t{5},
            .low = 1,
            .high = 99},
           {.name = "adamw_parameters",
            .help = "matrices that step by adamw: those with one of these texts in their path",
            .standard = std::vector<std::string>{"embedding"},
            .may_be_empty = true}}),
      .initial = initial_muon,
      .update = update_muon};
}

}  // namespace retrace
