#pragma once
// Losses of all data at once, in fewer steps than methods with a fixed rate where the loss is smooth: L-BFGS, and the
// method of Levenberg and Marquardt for sums of squares.

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

// Why a minimization ended.
enum class MinimizeEnd { gradient_tolerance, step_tolerance, max_iterations, output_function, max_damping };

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

// Residuals r of parameters, of any shape, by ops: the loss is the sum of r * r, divided by 2.
using Residuals = std::function<Tensor(const Tree& parameters)>;

// One step: the new parameters and what became of it.
struct LevenbergMarquardtUpdate {
  Tree parameters;
  double damping = 0;        // of the next step; above the maximum: no step made the loss smaller
  double loss = 0;           // of the new parameters
  double gradient_size = 0;  // the largest |J'r| of an element, at the parameters before the step
  double step_size = 0;      // the largest change of an element; 0: there was no step
  int64_t evaluations = 0;   // of the residuals, the one with their derivatives among them
};

// Options of minimize_levenberg_marquardt; a step has the factors.
struct LevenbergMarquardtOptions {
  double initial_damping_factor = 0.001, max_damping_factor = 1e10;
  double damping_increase_factor = 10, damping_decrease_factor = 0.1;
  int64_t max_iterations = 1000;
  double gradient_tolerance = 1e-5;  // ends where gradient_size is at most this
  double step_tolerance = 1e-5;      // or step_size
  // Called after each step; true ends the loop.
  std::function<bool(int64_t iteration, const LevenbergMarquardtUpdate& update)> output_function = {};
};

// A step of Levenberg (1944) and Marquardt (1963): d with (J'J + damping I) d = -J'r, where J has the derivatives of
// the residuals with respect to all parameters; damping 0 is the initial one. While the loss at parameters + d is not
// smaller, the damping is multiplied by the factor that increases it, up to the maximum; then by the one that decreases
// it. The rows of J' are products jvp() in one vmap(), J'r and J'J sums and matrix products of the parameters' type;
// d is found in f64, by Cholesky's factors, row by row, and rounded once. Same bits wherever the residuals have them.
// Parameters have one type, f32 or f64, and the residuals have it. Error(usage): other types, more than 10,000
// elements, options out of range, residuals or derivatives that are not finite.
LevenbergMarquardtUpdate levenberg_marquardt_update(const Tree& parameters, const Residuals& residuals, double damping,
                                                    const LevenbergMarquardtOptions& options = {},
                                                    Place place = Place::here());

// Steps of levenberg_marquardt_update until one of the tolerances is met, the damping is above its maximum,
// output_function says so, or max_iterations. Errors: as levenberg_marquardt_update.
Minimum minimize_levenberg_marquardt(const Tree& parameters, const Residuals& residuals,
                                     const LevenbergMarquardtOptions& options = {}, Place place = Place::here());

}  // namespace retrace
