#include "retrace/experiment/gaussian_process.h"

#include <algorithm>
#include <cmath>

#include "retrace/base/double_math.h"

namespace retrace {
namespace {

using Rows = GaussianProcess::Rows;
using double_math::exp;
using double_math::log;

constexpr double kRoot5 = 2.23606797749978969641;
constexpr int kSteps = 60;
// Bounds of the settings, and their priors: mean and deviation of the logarithm.
constexpr double kShortest = -4, kLongest = 3, kLeastNoise = -18, kMostNoise = 0;
constexpr double kLengthDeviation = 1.2, kNoiseMean = -12, kNoiseDeviation = 3;

double length_mean(size_t coordinates) { return -0.7 + 0.5 * log(static_cast<double>(coordinates)); }

// In four sums, which do not wait for each other.
double dot(const double* a, const double* b, size_t count) {
  double sums[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) { return dot(a.data(), b.data(), a.size()); }

// The lower triangle L with L L^T = a; a has its lower triangle. What is no longer positive becomes a little.
Rows cholesky(Rows a) {
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const double sum = a[i][j] - dot(a[i].data(), a[j].data(), j);
      a[i][j] = i == j ? std::sqrt(std::max(sum, 1e-14)) : sum / a[j][j];
    }
  }
  return a;
}

// x of L x = b.
std::vector<double> solve_lower(const Rows& lower, std::vector<double> b) {
  for (size_t i = 0; i < b.size(); ++i) b[i] = (b[i] - dot(lower[i].data(), b.data(), i)) / lower[i][i];
  return b;
}

// x of L^T x = b.
std::vector<double> solve_upper(const Rows& lower, std::vector<double> b) {
  for (size_t i = b.size(); i-- > 0;) {
    b[i] /= lower[i][i];
    for (size_t k = 0; k < i; ++k) b[k] -= lower[i][k] * b[i];
  }
  return b;
}

// The lower triangle of (L L^T)^-1.
Rows inverse(const Rows& lower) {
  const size_t n = lower.size();
  Rows columns(n);  // of L^-1, from the diagonal on
  for (size_t j = 0; j < n; ++j) {
    auto& column = columns[j];
    column.assign(n, 0);
    column[j] = 1 / lower[j][j];
    for (size_t i = j + 1; i < n; ++i) column[i] = -dot(&lower[i][j], &column[j], i - j) / lower[i][i];
  }
  Rows result(n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) result[i].push_back(dot(&columns[i][i], &columns[j][i], n - i));
  return result;
}

}  // namespace

double GaussianProcess::kernel(const std::vector<double>& a, const std::vector<double>& b) const {
  double square = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    const double distance = (a[k] - b[k]) * scales_[k];
    square += distance * distance;
  }
  const double distance = kRoot5 * std::sqrt(square);
  return (1 + distance + distance * distance / 3) * exp(-distance);
}

void GaussianProcess::solve() {
  const size_t n = points_.size(), coordinates = points_[0].size();
  scales_.clear();
  for (size_t k = 0; k < coordinates; ++k) scales_.push_back(exp(-settings_[k]));
  const double noise = exp(settings_.back());
  Rows covariance(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) covariance[i].push_back(kernel(points_[i], points_[j]));
    covariance[i].push_back(1 + noise);
  }
  factor_ = cholesky(std::move(covariance));
  weights_ = solve_upper(factor_, solve_lower(factor_, values_));
  variance_ = std::max(dot(values_, weights_) / static_cast<double>(n), 1e-12);
  cost_ = static_cast<double>(n) / 2 * log(variance_);
  for (size_t i = 0; i < n; ++i) cost_ += log(factor_[i][i]);
  const double mean = length_mean(coordinates);
  for (size_t k = 0; k < coordinates; ++k) {
    const double away = (settings_[k] - mean) / kLengthDeviation;
    cost_ += away * away / 2;
  }
  const double away = (settings_.back() - kNoiseMean) / kNoiseDeviation;
  cost_ += away * away / 2;
}

std::vector<double> GaussianProcess::gradient() const {
  const size_t n = points_.size(), coordinates = points_[0].size();
  std::vector<double> gradient(coordinates + 1, 0.0);
  const Rows precision = inverse(factor_);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      double square = 0;
      for (size_t k = 0; k < coordinates; ++k) {
        const double distance = (points_[i][k] - points_[j][k]) * scales_[k];
        square += distance * distance;
      }
      const double distance = kRoot5 * std::sqrt(square);
      const double share =
          (precision[i][j] - weights_[i] * weights_[j] / variance_) * 5 / 3 * (1 + distance) * exp(-distance);
      for (size_t k = 0; k < coordinates; ++k) {
        const double along = (points_[i][k] - points_[j][k]) * scales_[k];
        gradient[k] += share * along * along;
      }
    }
    gradient[coordinates] += (precision[i][i] - weights_[i] * weights_[i] / variance_) / 2 * exp(settings_.back());
  }
  const double mean = length_mean(coordinates);
  for (size_t k = 0; k < coordinates; ++k) gradient[k] += (settings_[k] - mean) / (kLengthDeviation * kLengthDeviation);
  gradient[coordinates] += (settings_.back() - kNoiseMean) / (kNoiseDeviation * kNoiseDeviation);
  return gradient;
}

// Steps of their own for each setting, which grow as long as the gradient keeps its sign (Rprop, Riedmiller and Braun
// 1993). The best settings are kept.
void GaussianProcess::descend() {
  solve();
  std::vector<double> best = settings_, before(settings_.size(), 0.0), step(settings_.size(), 0.2);
  double least = cost_;
  for (int i = 0; i < kSteps; ++i) {
    const auto slope = gradient();
    for (size_t k = 0; k < settings_.size(); ++k) {
      const double agrees = slope[k] * before[k];
      step[k] = std::clamp(step[k] * (agrees > 0 ? 1.3 : agrees < 0 ? 0.5 : 1), 1e-3, 1.0);
      const bool noise = k + 1 == settings_.size();
      const double moved = settings_[k] - (slope[k] > 0 ? step[k] : slope[k] < 0 ? -step[k] : 0);
      settings_[k] = std::clamp(moved, noise ? kLeastNoise : kShortest, noise ? kMostNoise : kLongest);
    }
    before = slope;
    solve();
    if (cost_ < least) least = cost_, best = settings_;
    if (*std::max_element(step.begin(), step.end()) <= 2e-3) break;
  }
  settings_ = best;
  solve();
}

GaussianProcess GaussianProcess::fitted(Rows points, std::vector<double> values) {
  GaussianProcess process(std::move(points), std::move(values));
  const size_t coordinates = process.points_[0].size();
  process.settings_.assign(coordinates, length_mean(coordinates));
  process.settings_.push_back(kNoiseMean);
  process.descend();
  return process;
}

void GaussianProcess::add(std::vector<double> point, double value) {
  points_.push_back(std::move(point));
  values_.push_back(value);
  const double variance = variance_;
  solve();
  variance_ = variance;
}

GaussianPrediction GaussianProcess::predict(const std::vector<double>& point) const {
  std::vector<double> kernels;
  for (const auto& known : points_) kernels.push_back(kernel(point, known));
  const double mean = dot(kernels, weights_);
  const auto explained = solve_lower(factor_, std::move(kernels));
  return {mean, std::sqrt(variance_ * std::max(1 - dot(explained, explained), 1e-12))};
}

}  // namespace retrace
