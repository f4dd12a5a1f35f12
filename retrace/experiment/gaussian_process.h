#pragma once
// A Gaussian process: what is known of a function after some of its values, in binary64. Equal arguments give equal
// bits.

#include <vector>

namespace retrace {

// Of one point of the function.
struct GaussianPrediction {
  double mean = 0, deviation = 0;
};

// With the kernel Matern 5/2, a length for each coordinate, noise, and mean 0. Lengths and noise are those of the
// largest posterior density: that of the values under the process, times a log-normal prior of each
// (docs/experiments.md).
class GaussianProcess {
 public:
  using Rows = std::vector<std::vector<double>>;

  // Finds lengths and noise for these values, a row of coordinates for each: two at least, not all equal.
  static GaussianProcess fitted(Rows points, std::vector<double> values);
  // The same lengths and noise with one more value.
  void add(std::vector<double> point, double value);

  GaussianPrediction predict(const std::vector<double>& point) const;
  // Minus the logarithm of the density above, without what is the same for all processes over as many points.
  double cost() const { return cost_; }

 private:
  GaussianProcess(Rows points, std::vector<double> values) : points_(std::move(points)), values_(std::move(values)) {}
  // Sets cost_ and what predict() needs, for the settings.
  void solve();
  // Of cost_, by the settings.
  std::vector<double> gradient() const;
  void descend();
  double kernel(const std::vector<double>& a, const std::vector<double>& b) const;

  Rows points_;
  std::vector<double> values_;
  std::vector<double> settings_;  // logarithms: of each length, then of the noise's share of the variance
  std::vector<double> scales_;    // 1 / length
  Rows factor_;                   // of Cholesky, the lower triangle
  std::vector<double> weights_;   // of the kernels of all points, for the mean
  double variance_ = 1, cost_ = 0;
};

}  // namespace retrace
