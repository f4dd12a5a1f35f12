#include "retrace/base/double_math.h"
#include "retrace/base/fp_environment.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/square/square.h"
#include "retrace/ops/stored_state/stored_state_op.h"
#include "retrace/ops/subtract/subtract.h"
#include "retrace/optim/adam_solver.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

// The entry of the product for parameters of a type.
const char* entry(DType type) { return type == DType::f64 ? "f64" : "f32"; }

Tree initial_nadam(const Tree& parameters, const OptionValues& options) {
  Tree state = initial_adam_state(parameters, options), product;
  for (const auto& w : leaf_tensors(parameters)) product[entry(w.type())] = Tensor::full(1, {}, w.type());
  state["product"] = product;
  return state;
}

// The numbers of a step for parameters of a type: of rank 0.
struct Numbers {
  Tensor product, of_gradient, of_mean, root, epsilon;
};

// mu(t) = b1 * (1 - 0.5 * 0.96^(t * momentum_decay)), with 0.96^x as exp(x * ln 0.96).
Numbers numbers_of(const Tensor& step, const Tensor& product_before, const Tensor& rate, const OptionValues& options) {
  const DType type = rate.type();
  const auto number = [&](double value) { return Tensor::full(value, {}, type); };
  const Tensor t = cast(step, type), one = number(1), decay = number(options.number("gradient_decay"));
  const auto momentum = [&](const Tensor& at) {
    const Tensor power = exp(multiply(at, number(options.number("momentum_decay") * double_math::log(0.96))));
    return multiply(decay, subtract(one, multiply(number(0.5), power)));
  };
  const Tensor mu = momentum(t), next = momentum(add(t, one));
  const Tensor product = stored_state(multiply(product_before, mu));
  const double b2 = rounded_to(type, options.number("squared_gradient_decay"));
  return {.product = product,
          .of_gradient = divide(multiply(rate, subtract(one, mu)), subtract(one, product)),
          .of_mean = divide(multiply(rate, next), subtract(one, multiply(product, next))),
          .root = sqrt(one_minus_power(b2, t)),
          .epsilon = number(options.number("epsilon"))};
}

// mean and mean_square as adam's;  divisor = sqrt(mean_square) / sqrt(1 - b2^t) + epsilon;
// w <- w - (rate * (1 - mu(t)) / (1 - product)) * (g / divisor)
//        - (rate * mu(t + 1) / (1 - product * mu(t + 1))) * (mean / divisor);  product = mu(1) * ... * mu(t)
SolverUpdate update_nadam(const Tree& parameters, const Tree& gradients, const Tree& state, const Operand& learn_rate,
                          const OptionValues& options) {
  const FloatingPointScope floating_point;
  check_gradients("nadam", parameters, gradients, {});
  auto weights = leaf_tensors(parameters);
  auto mean = state_leaves("nadam", "mean", parameters, state["mean"], {});
  auto squares = state_leaves("nadam", "mean_square", parameters, state["mean_square"], {});
  const auto gradient = leaf_tensors(gradients);
  const Tensor step = next_step(state["step"]);
  Number rate(learn_rate);
  Numbers numbers[2];
  Tree product;
  for (size_t i = 0; i < weights.size(); ++i) {
    const DType type = weights[i].type();
    const Tensor& g = gradient[i];
    auto& own = numbers[type == DType::f64];
    if (!own.root.defined()) {
      own = numbers_of(step, state["product"][entry(type)], rate.as(type), options);
      product[entry(type)] = own.product;
    }
    mean[i] = moving_mean(mean[i], g, options.number("gradient_decay"));
    squares[i] = moving_mean(squares[i], square(g), options.number("squared_gradient_decay"));
    const Tensor divisor = add(divide(sqrt(squares[i]), own.root), own.epsilon);
    const Tensor first = subtract(weights[i], multiply(own.of_gradient, divide(g, divisor)));
    weights[i] = subtract(first, multiply(own.of_mean, divide(mean[i], divisor)));
  }
  return {with_leaves(parameters, weights),
          {{"mean", with_leaves(parameters, mean)},
           {"mean_square", with_leaves(parameters, squares)},
           {"product", product},
           {"step", step}}};
}

}  // namespace

SolverKind nadam_solver() {
  return {.name = "nadam",
          .help = "adam with Nesterov's momentum (Dozat, 2016)",
          .learn_rate = 0.002,
          .options = adam_rules({{.name = "momentum_decay",
                                  .help = "how fast the momentum rises to gradient_decay",
                                  .standard = 0.004,
                                  .high = 1e6}}),
          .initial = initial_nadam,
          .update = update_nadam};
}

}  // namespace retrace
