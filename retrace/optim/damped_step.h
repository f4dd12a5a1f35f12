#pragma once
// The step of Levenberg and Marquardt: damped until it makes the loss smaller.

#include <functional>
#include <vector>

#include "retrace/tensor/tensor.h"

namespace retrace {

// What a loss of squares is near a point x: loss + g d + d H d / 2 at x + d, in binary64 on the host.
struct QuadraticModel {
  double loss = 0;
  std::vector<double> gradient, curvature;  // [n], [n,n]
};

struct Damping {
  double max = 1e10, increase = 10, decrease = 0.1;
};

// d = -(H + damping I)^-1 g by Cholesky's factors in binary64, row by row; empty where there are none.
std::vector<double> damped_direction(const QuadraticModel& model, double damping);

struct DampedStep {
  Tensor x;                 // undefined: no step made the loss smaller
  double damping = 0;       // for the next step
  double loss = 0;          // there
  double size = 0;          // the largest change of an element
  int64_t evaluations = 0;  // the last one was at x
};

// Tries x + d, with d rounded to the type of x, for the damping, and increased until the loss there is smaller or the
// damping is above its maximum. Where it is smaller, the damping is decreased for the next step.
DampedStep damped_step(const Tensor& x, const QuadraticModel& model, double damping, const Damping& options,
                       const std::function<double(const Tensor& x)>& loss);

// The values of a tensor of f32 or f64.
std::vector<double> host_values(const Tensor& tensor);

}  // namespace retrace
