#include "retrace/experiment/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "retrace/base/double_math.h"
#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/joined.h"

namespace retrace {
namespace {

constexpr double kLargestWhole = 9007199254740992.0;
constexpr int kMostTries = 10000;

Error wrong_parameter(const ExperimentParameter& parameter, const std::string& what) {
  return Error(ErrorKind::usage, 754, fmt::format("parameter \"{}\": {}", printable(parameter.name), what));
}

void check_range(const ExperimentParameter& parameter) {
  const double low = parameter.low, high = parameter.high;
  const auto got = fmt::format("low = {}, high = {}", low, high);
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high))
    throw wrong_parameter(parameter, "a range goes from low to a larger high").got(got);
  if (parameter.log && low <= 0) throw wrong_parameter(parameter, "a logarithmic range begins above 0").got(got);
  const bool whole = std::trunc(low) == low && std::trunc(high) == high;
  if (parameter.integer && (!whole || std::fabs(low) > kLargestWhole || std::fabs(high) > kLargestWhole))
    throw wrong_parameter(parameter, "the ends of a range of whole numbers are whole numbers").got(got);
  if (parameter.points < 0 || parameter.points == 1)
    throw wrong_parameter(parameter, "a range has two points in a grid, or more")
        .got(fmt::format("{}", parameter.points));
}

void check_values(const ExperimentParameter& parameter) {
  std::set<std::string> seen;
  for (const auto& value : parameter.values)
    if (!seen.insert(value_text(value)).second)
      throw wrong_parameter(parameter, fmt::format("{} stands twice", printable(value_text(value))));
}

// The ends of the scale on which a coordinate moves evenly.
std::pair<double, double> scale_of(const ExperimentParameter& parameter) {
  const double half = parameter.integer ? 0.5 : 0;
  const double low = parameter.low - half, high = parameter.high + half;
  if (!parameter.log) return {low, high};
  return {double_math::log(low), double_math::log(high)};
}

// The nearest number of six digits.
double six_digits(double number) {
  const std::string text = fmt::format("{:.6g}", number);
  double rounded = number;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

OptionValue value_at(const ExperimentParameter& parameter, double at) {
  if (const auto count = static_cast<double>(parameter.values.size()); count > 0)
    return parameter.values[static_cast<size_t>(std::clamp(std::floor(at * count), 0.0, count - 1))];
  const auto [first, last] = scale_of(parameter);
  double number = first + at * (last - first);
  if (parameter.log) number = double_math::exp(number);
  number = parameter.integer ? std::floor(number + 0.5) : six_digits(number);
  number = std::clamp(number, parameter.low, parameter.high);
  return parameter.integer ? OptionValue(static_cast<int64_t>(number)) : OptionValue(number);
}

double coordinate_of(const ExperimentParameter& parameter, const OptionValue& value) {
  if (!parameter.values.empty()) {
    const auto found = std::find(parameter.values.begin(), parameter.values.end(), value);
    if (found == parameter.values.end())
      throw wrong_parameter(parameter, "a trial has a value that it does not take").got(printable(value_text(value)));
    return (static_cast<double>(found - parameter.values.begin()) + 0.5) / static_cast<double>(parameter.values.size());
  }
  const auto [first, last] = scale_of(parameter);
  const double number = number_of(value).value_or(parameter.low);
  return std::clamp(((parameter.log ? double_math::log(number) : number) - first) / (last - first), 0.0, 1.0);
}

bool all_numbers(const ExperimentParameter& parameter) {
  return std::all_of(parameter.values.begin(), parameter.values.end(),
                     [](const auto& value) { return number_of(value); });
}

}  // namespace

std::string value_text(const OptionValue& value) {
  return std::visit(
      [](const auto& typed) {
        using Value = std::remove_cvref_t<decltype(typed)>;
        if constexpr (std::is_same_v<Value, std::vector<std::string>> || std::is_same_v<Value, std::vector<int64_t>> ||
                      std::is_same_v<Value, std::vector<double>>)
          return fmt::format("[{}]", joined(typed, ", "));
        else
          return fmt::format("{}", typed);
      },
      value);
}

std::optional<double> number_of(const OptionValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

SearchSpace::SearchSpace(std::vector<ExperimentParameter> parameters, const std::vector<std::string>& constraints)
    : parameters_(std::move(parameters)) {
  if (parameters_.empty()) throw Error(ErrorKind::usage, 754, "an experiment varies one parameter at least");
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& parameter = parameters_[i];
    if (parameter.name.empty()) throw wrong_parameter(parameter, "a parameter has a name");
    if (!seen.insert(parameter.name).second) throw wrong_parameter(parameter, "it stands twice");
    if (parameter.values.empty())
      check_range(parameter);
    else
      check_values(parameter);
    if (all_numbers(parameter)) numeric_.push_back(i), names.push_back(parameter.name);
  }
  for (const auto& text : constraints) constraints_.emplace_back(text, names);
}

OptionValues SearchSpace::values(const Point& point) const {
  OptionValues values;
  for (size_t i = 0; i < parameters_.size(); ++i) values.set(parameters_[i].name, value_at(parameters_[i], point[i]));
  return values;
}

OptionValues SearchSpace::typed(const OptionValues& values) const {
  OptionValues typed = values;
  for (const auto& parameter : parameters_) {
    const OptionValue* value = values.find(parameter.name);
    if (!value) continue;
    const std::string text = value_text(*value);
    for (const auto& known : parameter.values)
      if (value_text(known) == text) typed.set(parameter.name, known);
    if (parameter.values.empty() && !parameter.integer)
      typed.set(parameter.name, number_of(*value).value_or(parameter.low));
  }
  return typed;
}

SearchSpace::Point SearchSpace::point(const OptionValues& values) const {
  Point point;
  for (const auto& parameter : parameters_) {
    const OptionValue* value = values.find(parameter.name);
    if (!value) throw wrong_parameter(parameter, "a trial has no value of it");
    point.push_back(coordinate_of(parameter, *value));
  }
  return point;
}

bool SearchSpace::feasible(const OptionValues& values) const {
  std::vector<double> numbers;
  for (const size_t i : numeric_) numbers.push_back(number_of(*values.find(parameters_[i].name)).value());
  return std::all_of(constraints_.begin(), constraints_.end(), [&](const auto& one) { return one.holds(numbers); });
}

std::vector<double> SearchSpace::features(const Point& point) const {
  std::vector<double> features;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& values = parameters_[i].values;
    if (values.empty() || all_numbers(parameters_[i])) {
      features.push_back(point[i]);
      continue;
    }
    const auto count = static_cast<double>(values.size());
    const double taken = std::clamp(std::floor(point[i] * count), 0.0, count - 1);
    for (double k = 0; k < count; ++k) features.push_back(k == taken ? 1 : 0);
  }
  return features;
}

double unit_number(RandomStream& stream) {
  const uint64_t high = stream.bits(), low = stream.bits();
  return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
}

SearchSpace::Point random_point(const SearchSpace& space, RandomStream& stream) {
  for (int tries = 0; tries < kMostTries; ++tries) {
    SearchSpace::Point point;
    for (size_t i = 0; i < space.parameters().size(); ++i) point.push_back(unit_number(stream));
    if (space.feasible(space.values(point))) return point;
  }
  throw Error(ErrorKind::usage, 748, fmt::format("{} random points do not satisfy the constraints", kMostTries))
      .help("loosen a constraint, or narrow the ranges of the parameters");
}

}  // namespace retrace
