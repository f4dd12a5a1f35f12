#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "retrace/base/double_math.h"
#include "retrace/experiment/gaussian_process.h"
#include "retrace/experiment/strategy_kind.h"

namespace retrace {
namespace {

using Point = SearchSpace::Point;
using double_math::log;

constexpr int kCandidates = 500, kNear = 100, kRefined = 5, kRounds = 24;
constexpr size_t kCentres = 5;
constexpr size_t kMostKnown = 200;  // the cost of a suggestion grows with the third power of what the model knows

// A latin hypercube over the first trials: each coordinate of theirs is in another of as many equal parts.
Point first_point(const StrategyView& view, int64_t count) {
  RandomStream stream(view.seed, "experiment first points", static_cast<uint64_t>(view.number), 0, 0);
  Point point;
  for (size_t i = 0; i < view.space.parameters().size(); ++i) {
    const auto order = random_order(count, view.seed, "experiment latin hypercube", i);
    const auto part = static_cast<double>(order[static_cast<size_t>(view.number - 1)]);
    point.push_back((part + unit_number(stream)) / static_cast<double>(count));
  }
  return view.space.feasible(view.space.values(point)) ? point : random_point(view.space, stream);
}

// At most kMostKnown trials for the model: the best half of them, and others that are spread over all that there are.
std::vector<KnownTrial> modelled(std::vector<KnownTrial> known) {
  if (known.size() <= kMostKnown) return known;
  constexpr size_t kBest = kMostKnown / 2, kOthers = kMostKnown - kBest;
  std::stable_sort(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  std::vector<KnownTrial> some(known.begin(), known.begin() + kBest);
  const size_t others = known.size() - kBest;
  for (size_t i = 1; i <= kOthers; ++i) some.push_back(known[kBest + i * others / kOthers - 1]);
  return some;
}

// The values as the process sees them: moved and scaled to mean 0 and deviation 1, after a logarithm of their distance
// from the best one where that makes them likelier. `price` is what the logarithm costs of the density.
struct Scaled {
  std::vector<double> values;
  double price = 0;
};

Scaled scaled(std::vector<double> values, double share) {
  Scaled result;
  const auto n = static_cast<double>(values.size());
  if (share > 0) {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const double least = sorted[0], offset = std::max(share * (sorted[sorted.size() / 2] - least), 1e-12);
    for (double& value : values) {
      value = log((value - least) / offset + 1);
      result.price += value + log(offset);
    }
  }
  double mean = 0, square = 0;
  for (const double value : values) mean += value / n;
  for (const double value : values) square += (value - mean) * (value - mean) / n;
  const double deviation = std::sqrt(std::max(square, 1e-24));
  for (double& value : values) value = (value - mean) / deviation;
  result.values = std::move(values);
  result.price += n * log(deviation);
  return result;
}

GaussianProcess fitted_process(const std::vector<std::vector<double>>& points, const std::vector<double>& values,
                               double& best) {
  std::optional<GaussianProcess> chosen;
  double least = 0;
  for (const double share : {0.0, 1.0, 0.03}) {
    const Scaled seen = scaled(values, share);
    GaussianProcess process = GaussianProcess::fitted(points, seen.values);
    const double cost = process.cost() + seen.price;
    if (chosen && cost >= least) continue;
    least = cost;
    best = *std::min_element(seen.values.begin(), seen.values.end());
    chosen = std::move(process);
  }
  return *chosen;
}

// The logarithm of the expected improvement over `best`.
double log_improvement(const GaussianPrediction& at, double best) {
  const double z = (best - at.mean) / at.deviation;
  const double density_log = -z * z / 2 - 0.91893853320467274178;
  if (z < -5) return density_log - 2 * log(-z) + log(at.deviation);
  const double below = (1 + double_math::erf(z / std::sqrt(2.0))) / 2;
  return log(std::max(z * below + double_math::exp(density_log), 1e-300)) + log(at.deviation);
}

class Search {
 public:
  Search(const StrategyView& view, const GaussianProcess& process, double best)
      : view_(view), process_(process), best_(best) {
    for (const auto& trial : view.known) taken_.push_back(view.space.values(trial.point));
    for (const auto& point : view.pending) taken_.push_back(view.space.values(point));
  }

  std::optional<Point> run() {
    for (auto& point : candidates()) add(std::move(point));
    std::sort(found_.begin(), found_.end(), std::greater<>());
    if (found_.empty()) return std::nullopt;
    found_.resize(std::min<size_t>(found_.size(), kRefined));
    for (auto& one : found_) refine(one);
    return std::max_element(found_.begin(), found_.end(),
                            [](const auto& a, const auto& b) { return a.first < b.first; })
        ->second;
  }

 private:
  using Found = std::pair<double, Point>;

  // Where trials were or will be, and where constraints do not hold, nothing is expected.
  double worth(const Point& point) const {
    const OptionValues values = view_.space.values(point);
    if (std::find(taken_.begin(), taken_.end(), values) != taken_.end() || !view_.space.feasible(values))
      return -std::numeric_limits<double>::infinity();
    return log_improvement(process_.predict(view_.space.features(view_.space.point(values))), best_);
  }

  void add(Point point) {
    const double value = worth(point);
    if (std::isfinite(value)) found_.emplace_back(value, std::move(point));
  }

  // Points everywhere, and points near the best trials.
  std::vector<Point> candidates() const {
    RandomStream stream(view_.seed, "experiment candidates", static_cast<uint64_t>(view_.number), 0, 0);
    std::vector<Point> points;
    const size_t coordinates = view_.space.parameters().size();
    for (int i = 0; i < kCandidates; ++i) {
      Point& point = points.emplace_back();
      for (size_t k = 0; k < coordinates; ++k) point.push_back(unit_number(stream));
    }
    auto centres = view_.known;
    std::sort(centres.begin(), centres.end(),
              [](const auto& a, const auto& b) { return std::tie(a.value, a.point) < std::tie(b.value, b.point); });
    centres.resize(std::min(centres.size(), kCentres));
    for (const auto& centre : centres) {
      for (int i = 0; i < kNear; ++i) {
        Point point = centre.point;
        const double width = double_math::exp(-1.5 - 6 * unit_number(stream));
        for (double& at : point) {
          const double moved = (unit_number(stream) + unit_number(stream) + unit_number(stream) - 1.5) * 2 * width;
          at = std::clamp(at + moved, 0.0, 1.0);
        }
        points.push_back(std::move(point));
      }
    }
    return points;
  }

  // Steps along each coordinate, which become smaller where none helps.
  void refine(Found& found) const {
    double step = 0.05;
    for (int round = 0; round < kRounds; ++round) {
      const double before = found.first;
      for (size_t k = 0; k < found.second.size(); ++k) {
        for (const double direction : {step, -step}) {
          Point point = found.second;
          point[k] = std::clamp(point[k] + direction, 0.0, 1.0);
          if (const double value = worth(point); value > found.first) {
            found = {value, std::move(point)};
            break;
          }
        }
      }
      if (found.first <= before) step *= 0.5;
    }
  }

  const StrategyView& view_;
  const GaussianProcess& process_;
  const double best_;
  std::vector<OptionValues> taken_;
  std::vector<Found> found_;
};

std::optional<Point> suggest_bayesian(const StrategyView& view, const OptionValues& options) {
  const auto coordinates = static_cast<int64_t>(view.space.parameters().size());
  const int64_t given = options.integer("first_trials");
  const int64_t first = given > 0 ? given : std::min<int64_t>(coordinates + 3, 10);
  if (view.number <= first) return first_point(view, first);
  const std::vector<KnownTrial> known = modelled(view.known);
  double worst = -std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> points;
  for (const auto& trial : known) {
    if (std::isfinite(trial.value)) worst = std::max(worst, trial.value);
    points.push_back(view.space.features(trial.point));
  }
  std::vector<double> values;
  for (const auto& trial : known) values.push_back(std::isfinite(trial.value) ? trial.value : worst);
  RandomStream stream(view.seed, "experiment random", static_cast<uint64_t>(view.number), 0, 0);
  const bool same = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  if (same || values.size() < 2) return random_point(view.space, stream);
  double best = 0;
  GaussianProcess process = fitted_process(points, values, best);
  // Trials that have no result yet are taken for what the process expects of them, and improvement counts from there.
  for (const auto& point : view.pending) {
    auto features = view.space.features(point);
    const double expected = process.predict(features).mean;
    best = std::min(best, expected);
    process.add(std::move(features), expected);
  }
  const auto found = Search(view, process, best).run();
  return found ? *found : random_point(view.space, stream);
}

}  // namespace

StrategyKind bayesian_strategy() {
  return {
      .name = "bayesian",
      .help = "points where a model of the trials so far (a Gaussian process) expects the largest improvement",
      .options =
          {{.name = "first_trials",
            .help =
                "trials that are spread evenly before there is a model; 0: the number of parameters and 3, 10 at most",
            .standard = int64_t{0},
            .low = 0,
            .high = 10000}},
      .uses_results = true,
      .suggest = suggest_bayesian};
}

}  // namespace retrace
