#pragma once
// L-BFGS, for losses of all data at once: fewer steps than methods with a fixed rate where the loss is smooth.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "retrace/autodiff/value_and_grad.h"

namespace retrace {

// How far a step goes along its direction d, with f the loss and g its gradient: the loss falls enough, f(x + t d) <= f
// + 1e-4 t g d; and, but for backtracking, the slope g(x + t d) d is flat enough: at least 0.9 g d (weak_wolfe), or at
// most 0.9 |g d| in size (strong_wolfe).
enum class LineSearch { weak_wolfe, strong_wolfe, backtracking };

// Options of lbfgs_update.
struct LbfgsOptions {
  int64_t history_size = 10;  // pairs of differences that are kept
  LineSearch line_search = LineSearch::weak_wolfe;
  int64_t max_line_search_iterations = 20;
  double initial_inverse_hessian_factor = 1;  // of the first direction: -factor g
  // The first length tried in the first step; default: min(1, 1 / (sum of |g|)). It is 1 in the others.
  std::optional<double> initial_step_size = {};
};

// What is kept between steps: differences of parameters and of gradients, oldest first, each as one array; loss and
// gradient of the present parameters. Empty before the first step.
struct LbfgsState {
  std::vector<Tensor> steps, gradient_steps;
  Tensor gradient;
  double loss = 0;
};

// One step: the new parameters and what became of it.
struct LbfgsUpdate {
  Tree parameters;
  LbfgsState state;
  double loss = 0;           // of the new parameters
  double gradient_size = 0;  // the largest |g| of an element, there
  double step_size = 0;      // the largest change of an element; 0: the line search found nothing better
  int64_t evaluations = 0;   // of the loss
  int64_t evaluation = -1;   // the one of them at the new parameters, from 0; -1: they are those before
};

// Loss and gradients of parameters, as functions made by value_and_grad or accelerate compute them.
using LossAndGradients = std::function<ValueAndGradient<Tree>(const Tree& parameters)>;

// A step of L-BFGS (Nocedal and Wright 2006, algorithms 7.4 and 7.5): the direction is that of the two loops over the
// kept pairs, with H0 = (s y / y y) I of the newest pair. Lengths are found by doubling and halving (weak_wolfe: Lewis
// and Overton 2013; backtracking), or, for strong_wolfe, by Nocedal and Wright's algorithms 3.5 and 3.6, which halve. A
// pair is kept if s y > 1e-10 y y. Numbers of the direction are of the parameters' type; losses and slopes are compared
// in f64. Same bits wherever the loss has them. Parameters have one type, f32 or f64. Error(usage): other types,
// options out of range, a loss or a slope at the start that is not finite.
LbfgsUpdate lbfgs_update(const Tree& parameters, const LossAndGradients& loss, const LbfgsState& state,
                         const LbfgsOptions& options = {}, Place place = Place::here());

// Options of minimize_lbfgs.
struct MinimizeOptions {
  LbfgsOptions lbfgs = {};
  int64_t max_iterations = 1000;
  double gradient_tolerance = 1e-5;  // ends where gradient_size is at most this
  double step_tolerance = 1e-5;      // or step_size
  // Called after each step; true ends the loop.
  std::function<bool(int64_t iteration, const LbfgsUpdate& update)> output_function = {};
};

// Why minimize_lbfgs ended.
enum class MinimizeEnd { gradient_tolerance, step_tolerance, max_iterations, output_function };

// The last parameters, and how they were found.
struct Minimum {
  Tree parameters;
  double loss = 0;
  int64_t iterations = 0, evaluations = 0;
  MinimizeEnd end = MinimizeEnd::max_iterations;
};

// Steps of lbfgs_update until one of the tolerances is met, output_function says so, or max_iterations. Errors: as
// lbfgs_update.
Minimum minimize_lbfgs(const Tree& parameters, const LossAndGradients& loss, const MinimizeOptions& options = {},
                       Place place = Place::here());

}  // namespace retrace
