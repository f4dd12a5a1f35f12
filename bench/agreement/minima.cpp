#include "bench/agreement/minima.h"

#include <cmath>

#include "bench/common/synthetic.h"
#include "retrace/retrace.h"

namespace retrace::bench {
namespace {

using nlohmann::json;
using Doubles = std::vector<double>;

constexpr double kTolerance = 1e-9;

Tensor array(const Doubles& values) { return Tensor::from<double>(values, {static_cast<int64_t>(values.size())}); }

// Rosenbrock's valley in five pairs of numbers, as residuals.
Tensor valleys(const Tensor& p) {
  const Tensor pairs = reshape(p, {5, 2}), x = select(pairs, 1, 0), y = select(pairs, 1, 1);
  return concatenate({1.0 - x, 10.0 * (y - x * x)}, 0);
}
const Doubles kValleys{-1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1};

struct Problem {
  std::string name;
  Doubles start;
  std::function<Tensor(const Tensor& p)> of;  // a loss, or residuals
  json data;
};

json result(const Problem& problem, const std::string& solver, const Minimum& found) {
  return {{"problem", problem.name},
          {"solver", solver},
          {"start", problem.start},
          {"data", problem.data},
          {"parameters", found.parameters["p"].tensor().to_vector<double>()},
          {"loss", found.loss},
          {"iterations", found.iterations},
          {"evaluations", found.evaluations}};
}

json by_lbfgs(const Problem& problem, LineSearch search, const std::string& name) {
  const auto loss = value_and_grad([&](const Tree& p) { return problem.of(p["p"]); });
  return result(
      problem, "lbfgs, " + name,
      minimize_lbfgs({{"p", array(problem.start)}}, loss,
                     {.lbfgs = {.line_search = search}, .gradient_tolerance = kTolerance, .step_tolerance = 0}));
}

json by_levenberg_marquardt(const Problem& problem) {
  return result(
      problem, "levenberg-marquardt",
      minimize_levenberg_marquardt({{"p", array(problem.start)}}, [&](const Tree& p) { return problem.of(p["p"]); },
                                   {.gradient_tolerance = kTolerance, .step_tolerance = 0}));
}

// Of two classes that overlap, with L2.
Problem logistic() {
  const Tensor x = synthetic({60, 6}, 3, "") * 4 - 2, noise = synthetic({60}, 4, "");
  Doubles xs, ts;
  for (const float value : x.to_vector<float>()) xs.push_back(value);
  const auto odds = noise.to_vector<float>();
  for (size_t i = 0; i < 60; ++i) ts.push_back(xs[6 * i] - xs[6 * i + 1] + 4 * odds[i] - 2 > 0 ? 1 : -1);
  const Tensor rows = Tensor::from<double>(xs, {60, 6}), t = array(ts);
  const auto loss = [rows, t](const Tensor& p) {
    const Tensor scores = reshape(matmul(rows, reshape(p, {6, 1})), {60});
    return mean(softplus(-(t * scores))) + 0.05 * sum(square(p));
  };
  return {"logistic regression with L2", Doubles(6, 0), loss, {{"x", xs}, {"t", ts}}};
}

// a exp(-b t) + c.
Problem decay() {
  Doubles t, y;
  for (int i = 0; i < 30; ++i) {
    t.push_back(0.1 * i);
    y.push_back(2.5 * std::exp(-1.3 * t.back()) + 0.5 + 0.01 * (i % 3 - 1));
  }
  const auto residuals = [times = array(t), values = array(y)](const Tensor& p) {
    return p[0] * exp(-(p[1] * times)) + p[2] - values;
  };
  return {"exponential decay", {1, 1, 0}, residuals, {{"t", t}, {"y", y}}};
}

// Kowalik and Osborne (1968): rates of an enzyme.
Problem enzyme() {
  const Doubles u{4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625};
  const Doubles y{0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246};
  const auto residuals = [t = array(u), values = array(y)](const Tensor& p) {
    const Tensor squares = t * t;
    return p[0] * (squares + t * p[1]) / (squares + t * p[2] + p[3]) - values;
  };
  return {"rates of an enzyme (Kowalik and Osborne)", {0.25, 0.39, 0.415, 0.39}, residuals, {{"t", u}, {"y", y}}};
}

}  // namespace

json minima() {
  json all = json::array();
  const Problem valley{"five valleys of Rosenbrock", kValleys,
                       [](const Tensor& p) { return sum(square(valleys(p))) * 0.5; }, json::object()};
  for (const Problem& problem : {valley, logistic()}) {
    all.push_back(by_lbfgs(problem, LineSearch::weak_wolfe, "weak-wolfe"));
    all.push_back(by_lbfgs(problem, LineSearch::strong_wolfe, "strong-wolfe"));
    all.push_back(by_lbfgs(problem, LineSearch::backtracking, "backtracking"));
  }
  for (const Problem& problem : {Problem{valley.name, kValleys, valleys, json::object()}, decay(), enzyme()})
    all.push_back(by_levenberg_marquardt(problem));
  return all;
}

}  // namespace retrace::bench
