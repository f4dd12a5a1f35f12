// Experiments of six test functions whose smallest values are known: build/bench/search [--trials=50] [--seeds=20]
// [FUNCTION...] prints, as JSON, the parameters of each function, the trials of one random search (bench/search.py
// computes their values anew), and for each way of searching the best value of each seed and the mean of the best
// values after each trial.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "retrace/base/option_values.h"
#include "retrace/experiment/experiment.h"

namespace retrace::bench {
namespace {

using Json = nlohmann::ordered_json;

struct TestFunction {
  std::string name;
  double least = 0;  // its smallest value
  std::vector<ExperimentParameter> parameters;
  std::function<double(const OptionValues& at)> value;
};

std::vector<double> coordinates(const OptionValues& at, int count) {
  std::vector<double> x;
  for (int i = 0; i < count; ++i) x.push_back(at.number("x" + std::to_string(i)));
  return x;
}

std::vector<ExperimentParameter> box(int count, double low, double high) {
  std::vector<ExperimentParameter> parameters;
  for (int i = 0; i < count; ++i) parameters.push_back({.name = "x" + std::to_string(i), .low = low, .high = high});
  return parameters;
}

double branin(const OptionValues& at) {
  constexpr double kPi = std::numbers::pi;
  const double x = at.number("x0"), y = at.number("x1");
  const double a = y - 5.1 / (4 * kPi * kPi) * x * x + 5 / kPi * x - 6;
  return a * a + 10 * (1 - 1 / (8 * kPi)) * std::cos(x) + 10;
}

constexpr double kHeights[] = {1, 1.2, 3, 3.2};
constexpr double kWidths3[4][3] = {{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}};
constexpr double kCentres3[4][3] = {
    {0.3689, 0.117, 0.2673}, {0.4699, 0.4387, 0.747}, {0.1091, 0.8732, 0.5547}, {0.0381, 0.5743, 0.8828}};
constexpr double kWidths6[4][6] = {
    {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
constexpr double kCentres6[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                    {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                    {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665},
                                    {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};

// The sum of four bells.
template <size_t count>
double hartmann(const OptionValues& at, const double (&widths)[4][count], const double (&centres)[4][count]) {
  const auto x = coordinates(at, static_cast<int>(count));
  double sum = 0;
  for (int bell = 0; bell < 4; ++bell) {
    double square = 0;
    for (size_t i = 0; i < count; ++i)
      square += widths[bell][i] * (x[i] - centres[bell][i]) * (x[i] - centres[bell][i]);
    sum -= kHeights[bell] * std::exp(-square);
  }
  return sum;
}

double rosenbrock(const OptionValues& at) {
  const auto x = coordinates(at, 4);
  double sum = 0;
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    const double across = x[i + 1] - x[i] * x[i];
    sum += 100 * across * across + (1 - x[i]) * (1 - x[i]);
  }
  return sum;
}

double ackley(const OptionValues& at) {
  const auto x = coordinates(at, 5);
  double squares = 0, waves = 0;
  for (const double one : x) squares += one * one / 5, waves += std::cos(2 * std::numbers::pi * one) / 5;
  return -20 * std::exp(-0.2 * std::sqrt(squares)) - std::exp(waves) + 20 + std::numbers::e;
}

// What a training might come to: each solver has its error and its best learn rate, which falls with the layers. Above
// the best rate the error grows faster than below it, up to that of a training that diverges.
double training(const OptionValues& at) {
  const std::string& solver = at.text("solver");
  const double floor = solver == "adam" ? 0.1 : solver == "rmsprop" ? 0.12 : 0.08;
  const double best_rate = solver == "adam" ? -2.7 : solver == "rmsprop" ? -3.2 : -1;
  const auto layers = static_cast<double>(at.integer("layers"));
  const double away = std::log10(at.number("rate")) - (best_rate - 0.08 * layers);
  const double loss = (away > 0 ? 1.5 : 0.3) * away * away;
  return floor + 0.3 * std::exp(-layers / 3) + 0.01 * layers + 2.3 * (1 - std::exp(-loss / 2.3));
}

std::vector<TestFunction> functions() {
  return {{"branin",
           0.39788735772973816,
           {{.name = "x0", .low = -5, .high = 10}, {.name = "x1", .low = 0, .high = 15}},
           branin},
          {"hartmann-3", -3.8627821478207558, box(3, 0, 1),
           [](const OptionValues& at) { return hartmann(at, kWidths3, kCentres3); }},
          {"hartmann-6", -3.3223680114155147, box(6, 0, 1),
           [](const OptionValues& at) { return hartmann(at, kWidths6, kCentres6); }},
          {"rosenbrock-4", 0, box(4, -5, 10), rosenbrock},
          {"ackley-5", 0, box(5, -32.768, 32.768), ackley},
          {"training",
           0.08 + 0.3 * std::exp(-7.0 / 3) + 0.07,
           {{.name = "layers", .low = 1, .high = 16, .integer = true},
            {.name = "rate", .low = 1e-6, .high = 1, .log = true},
            {.name = "solver", .values = {std::string("adam"), std::string("rmsprop"), std::string("sgdm")}}},
           training}};
}

struct Way {
  const char* name;
  const char* strategy;
  int64_t window;
};
constexpr Way kWays[] = {{"bayesian", "bayesian", 1}, {"bayesian, window 4", "bayesian", 4}, {"random", "random", 1}};

ExperimentResult search(const TestFunction& function, const Way& way, int64_t trials, uint64_t seed) {
  return Experiment({.parameters = function.parameters,
                     .strategy = way.strategy,
                     .trials = trials,
                     .seed = seed,
                     .window = way.window})
      .run([&](Trial& trial) { return function.value(trial.parameters()); });
}

Json json_of(const OptionValues& at, const std::vector<ExperimentParameter>& parameters) {
  Json object;
  for (const auto& parameter : parameters)
    std::visit([&](const auto& value) { object[parameter.name] = value; }, *at.find(parameter.name));
  return object;
}

Json json_of(const ExperimentParameter& parameter) {
  if (parameter.values.empty())
    return {{"low", parameter.low}, {"high", parameter.high}, {"log", parameter.log}, {"integer", parameter.integer}};
  Json values = Json::array();
  for (const auto& value : parameter.values) values.push_back(std::get<std::string>(value));
  return {{"values", values}};
}

Json measure(const TestFunction& function, int64_t trials, uint64_t seeds) {
  Json result{{"least", function.least}};
  for (const auto& parameter : function.parameters) result["parameters"][parameter.name] = json_of(parameter);
  for (const auto& trial : search(function, kWays[2], trials, 0).trials)
    result["trials"].push_back({{"at", json_of(trial.parameters, function.parameters)}, {"value", trial.value}});
  for (const auto& way : kWays) {
    std::vector<double> bests, trace(static_cast<size_t>(trials), 0.0);
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      double best = std::numeric_limits<double>::infinity();
      const auto found = search(function, way, trials, seed).trials;
      for (size_t i = 0; i < found.size(); ++i)
        best = std::min(best, found[i].value), trace[i] += best / static_cast<double>(seeds);
      bests.push_back(best);
    }
    result["ways"][way.name] = {{"best", bests}, {"mean_trace", trace}};
  }
  return result;
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  using namespace retrace::bench;
  int64_t trials = 50;
  uint64_t seeds = 20;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument(argv[i]);
    if (argument.starts_with("--trials="))
      trials = std::stoll(argument.substr(9));
    else if (argument.starts_with("--seeds="))
      seeds = std::stoull(argument.substr(8));
    else
      names.push_back(argument);
  }
  Json result{{"trials", trials}, {"seeds", seeds}};
  for (const auto& function : functions())
    if (names.empty() || std::find(names.begin(), names.end(), function.name) != names.end())
      result["functions"][function.name] = measure(function, trials, seeds);
  if (!result.contains("functions"))
    return fmt::print(stderr, "usage: search [--trials=50] [--seeds=20] [FUNCTION...]\n"), 2;
  fmt::print("{}\n", result.dump(1));
}
