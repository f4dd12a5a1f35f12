#include <fmt/format.h>

#include "retrace/base/error.h"
#include "retrace/experiment/strategy_kind.h"

namespace retrace {
namespace {

constexpr int64_t kMostPoints = 1'000'000;

// So many values of a parameter are in the grid.
int64_t points_of(const ExperimentParameter& parameter) {
  if (!parameter.values.empty()) return static_cast<int64_t>(parameter.values.size());
  if (parameter.points > 0) return parameter.points;
  if (parameter.integer) return static_cast<int64_t>(parameter.high - parameter.low) + 1;
  throw Error(ErrorKind::usage, 761,
              fmt::format("a grid needs to know how many values of \"{}\" it has", parameter.name))
      .help("add points = 5 to its range, or give it a list of values");
}

// The coordinate of one of them: ends included, or in the middles of the parts of a list.
double coordinate(const ExperimentParameter& parameter, int64_t i, int64_t points) {
  const bool ends = parameter.values.empty() && parameter.points > 0;
  return ends ? static_cast<double>(i) / static_cast<double>(points - 1)
              : (static_cast<double>(i) + 0.5) / static_cast<double>(points);
}

SearchSpace::Point point_of(const SearchSpace& space, const std::vector<int64_t>& sizes, int64_t index) {
  SearchSpace::Point point(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; index /= sizes[i])
    point[i] = coordinate(space.parameters()[i], index % sizes[i], sizes[i]);
  return point;
}

std::optional<SearchSpace::Point> suggest_grid(const StrategyView& view, const OptionValues&) {
  std::vector<int64_t> sizes;
  int64_t all = 1;
  for (const auto& parameter : view.space.parameters()) {
    sizes.push_back(points_of(parameter));
    if (sizes.back() > kMostPoints / all)
      throw Error(ErrorKind::usage, 761, fmt::format("the grid has more than {} points", kMostPoints))
          .help("fewer values, or the strategy random");
    all *= sizes.back();
  }
  const bool free = view.space.constraints().empty();
  if (free && view.number > all) return std::nullopt;
  if (free && !view.pruned) return point_of(view.space, sizes, view.number - 1);
  // Trials are pruned by what earlier ones were worth. Where each is better than the one before, none would be.
  const auto order = view.pruned ? random_order(all, view.seed, "experiment grid", 0) : std::vector<int64_t>();
  int64_t feasible = 0;
  for (int64_t i = 0; i < all; ++i) {
    auto point = point_of(view.space, sizes, view.pruned ? order[static_cast<size_t>(i)] : i);
    if (view.space.feasible(view.space.values(point)) && ++feasible == view.number) return point;
  }
  if (feasible == 0)
    throw Error(ErrorKind::usage, 761, "no point of the grid satisfies the constraints").help("loosen a constraint");
  return std::nullopt;
}

}  // namespace

StrategyKind grid_strategy() {
  return {.name = "grid",
          .help =
              "every combination of values that satisfies the constraints, the last parameter first; with pruning in a "
              "random order",
          .all = true,
          .suggest = suggest_grid};
}

}  // namespace retrace
