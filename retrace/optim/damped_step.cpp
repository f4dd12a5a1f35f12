#include "retrace/optim/damped_step.h"

#include <algorithm>
#include <cmath>

#include "retrace/ops/operators.h"

namespace retrace {
namespace {

constexpr double kLeastDamping = 1e-30;

// The lower factor of H + damping I in place of its lower half; false if it is not positive definite.
bool factor(std::vector<double>& h, size_t n, double damping) {
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k <= i; ++k) {
      double sum = h[i * n + k] + (i == k ? damping : 0);
      for (size_t j = 0; j < k; ++j) sum -= h[i * n + j] * h[k * n + j];
      if (i == k && !(sum > 0 && std::isfinite(sum))) return false;
      h[i * n + k] = i == k ? std::sqrt(sum) : sum / h[k * n + k];
    }
  return true;
}

Tensor moved(const Tensor& x, const std::vector<double>& d) {
  const Shape shape{static_cast<int64_t>(d.size())};
  if (x.type() == DType::f64) return x + Tensor::from<double>(d, shape).to(x.device());
  return x + Tensor::from<float>(std::vector<float>(d.begin(), d.end()), shape).to(x.device());
}

}  // namespace

std::vector<double> host_values(const Tensor& tensor) {
  if (tensor.type() == DType::f64) return tensor.to_vector<double>();
  const auto narrow = tensor.to_vector<float>();
  return {narrow.begin(), narrow.end()};
}

std::vector<double> damped_direction(const QuadraticModel& model, double damping) {
  const size_t n = model.gradient.size();
  std::vector<double> lower = model.curvature, d(n);
  if (!factor(lower, n, damping)) return {};
  for (size_t i = 0; i < n; ++i) {
    double sum = -model.gradient[i];
    for (size_t j = 0; j < i; ++j) sum -= lower[i * n + j] * d[j];
    d[i] = sum / lower[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    double sum = d[i];
    for (size_t j = i + 1; j < n; ++j) sum -= lower[j * n + i] * d[j];
    d[i] = sum / lower[i * n + i];
  }
  return d;
}

DampedStep damped_step(const Tensor& x, const QuadraticModel& model, double damping, const Damping& options,
                       const std::function<double(const Tensor& x)>& loss) {
  DampedStep step;
  for (; damping <= options.max; damping *= options.increase) {
    const auto d = damped_direction(model, damping);
    if (d.empty()) continue;
    const Tensor there = moved(x, d);
    ++step.evaluations;
    step.loss = loss(there);
    if (!(step.loss < model.loss)) continue;
    for (const double change : d) step.size = std::max(step.size, std::abs(change));
    step.x = there, step.damping = std::max(damping * options.decrease, kLeastDamping);
    return step;
  }
  step.loss = model.loss, step.damping = damping;
  return step;
}

}  // namespace retrace
