#include "retrace/experiment/parallel_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "retrace/monitor/svg.h"

namespace retrace {
namespace {

constexpr double kSide = 90, kBetween = 150, kBottom = 300;
constexpr const char *kLine = "#6b7280", *kBest = "#dc2626";

// One axis, and where each trial is on it.
struct Coordinate {
  std::string title;
  std::vector<std::optional<double>> places;  // pixels
  std::vector<std::pair<double, std::string>> ticks;
};

Coordinate of_numbers(const std::string& title, const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  const Axis axis(low, high, kBottom, kChartTop + 10, low > 0 && high > 50 * low);
  Coordinate result{title, {}, {}};
  for (const double value : values)
    result.places.push_back(std::isfinite(value) ? std::optional(axis.at(value)) : std::nullopt);
  for (const double tick : axis.ticks()) result.ticks.emplace_back(axis.at(tick), tick_text(tick));
  return result;
}

Coordinate of_texts(const std::string& title, const ParameterColumn& column) {
  const auto kinds = column.kinds();
  const double step = (kBottom - kChartTop - 10) / std::max<double>(1, static_cast<double>(kinds.size()) - 1);
  const auto place = [&](const std::string& text) {
    return kBottom - step * static_cast<double>(std::find(kinds.begin(), kinds.end(), text) - kinds.begin());
  };
  Coordinate result{title, {}, {}};
  for (const auto& text : column.texts) result.places.emplace_back(place(text));
  for (const auto& kind : kinds) result.ticks.emplace_back(place(kind), kind);
  return result;
}

// From the worst trial with a value to the best.
std::vector<const TrialRecord*> ordered(const TrialTable& table) {
  std::vector<const TrialRecord*> trials;
  for (const auto& trial : table.trials)
    if (std::isfinite(trial.value)) trials.push_back(&trial);
  std::stable_sort(trials.begin(), trials.end(), [&](const auto* a, const auto* b) {
    return table.maximize ? a->value < b->value : a->value > b->value;
  });
  return trials;
}

// Of the worst light, of the best dark.
std::string shade(size_t i, size_t count) {
  const double part = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 1;
  const auto mixed = [&](int light, int dark) { return static_cast<int>(light + part * (dark - light)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0xdb, 0x1d), mixed(0xe7, 0x4e), mixed(0xf5, 0xa8));
}

}  // namespace

std::string parallel_svg(const TrialTable& table) {
  const int64_t best = best_of(table).number;
  const auto trials = ordered(table);
  std::vector<Coordinate> axes;
  std::vector<std::string> names;
  for (const auto& [name, value] : trials.front()->parameters) names.push_back(name);
  for (const auto& name : names) {
    const ParameterColumn column = parameter_column(trials, name);
    const std::string title = short_name(name, names);
    axes.push_back(column.numbers.empty() ? of_texts(title, column) : of_numbers(title, column.numbers));
  }
  std::vector<double> values;
  for (const auto* trial : trials) values.push_back(trial->value);
  axes.push_back(of_numbers(table.objective, values));
  const auto x_of = [](size_t axis) { return kSide + kBetween * static_cast<double>(axis); };
  SvgPicture picture(static_cast<int>(x_of(axes.size() - 1) + kSide), static_cast<int>(kBottom + 20));
  for (size_t i = 0; i < trials.size(); ++i) {
    SvgPoints points;
    for (size_t axis = 0; axis < axes.size(); ++axis)
      if (const auto place = axes[axis].places[i]) points.emplace_back(x_of(axis), *place);
    const bool is_best = trials[i]->number == best;
    picture.curve(points, is_best ? kBest : shade(i, trials.size()), is_best ? 3 : 1.2);
  }
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    picture.line(x_of(axis), kChartTop + 10, x_of(axis), kBottom, kLine);
    picture.text(x_of(axis), 20, axes[axis].title, TextAnchor::middle);
    for (const auto& [y, text] : axes[axis].ticks) picture.text(x_of(axis) + 5, y + 4, text, TextAnchor::start, 11);
  }
  return picture.take();
}

}  // namespace retrace
