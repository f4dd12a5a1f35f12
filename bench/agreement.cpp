// What our solvers, schedules and metrics make of fixed problems, as one JSON object: build/bench/agreement. Every
// solver, schedule and metric takes part, with its options at their defaults and moved; bench/peers/agreement.py makes
// the same with PyTorch and scikit-learn, and compares.

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/agreement/minima.h"
#include "bench/common/synthetic.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/retrace.h"
#include "retrace/train/metric_kind.h"

namespace retrace::bench {
namespace {

using nlohmann::json;

constexpr int64_t kSteps = 50, kSamples = 24, kFeatures = 6, kHidden = 8, kTargets = 3, kStepsOfEpoch = 5;
constexpr double kLearnRate = 0.002;

// --- Options

json json_of(const OptionValues& values) {
  json all = json::object();
  for (const auto& [name, value] : values) std::visit([&](const auto& one) { all[name] = one; }, value);
  return all;
}

// Another value of a number, which shows within 50 steps; nothing for options of other types.
std::optional<OptionValue> moved(const OptionRule& rule) {
  if (const auto* whole = std::get_if<int64_t>(&rule.standard)) return *whole >= 100 ? int64_t{16} : int64_t{3};
  const auto* number = std::get_if<double>(&rule.standard);
  if (!number) return {};
  return *number == 0 ? 0.25 : *number >= 0.1 ? *number / 2 : std::fmax(*number * 16, 1e-3);
}

// Complete options: the defaults, each number moved by itself, and all of them.
std::vector<OptionValues> choices(const std::vector<OptionRule>& rules) {
  std::vector<OptionValues> found{with_standard_values({}, rules)};
  OptionValues all = found[0];
  for (const auto& rule : rules)
    if (const auto value = moved(rule)) {
      found.push_back(found[0]);
      found.back().set(rule.name, *value);
      all.set(rule.name, *value);
    }
  if (found.size() > 2) found.push_back(all);
  return found;
}

// --- Solvers: linear, softmax, linear on synthetic data, mean squared error, the whole set in each of 50 steps

const Tensor& inputs() {
  static const Tensor x = synthetic({kSamples, kFeatures}, 1, "BC") * 4 - 2;
  return x;
}
const Tensor& targets() {
  static const Tensor t = synthetic({kSamples, kTargets}, 2, "BC") * 2 - 1;
  return t;
}

nn::Network start() {
  return nn::make_network(random_key(5), nn::Sequential{nn::linear(kHidden), nn::softmax(), nn::linear(kTargets)},
                          {kFeatures},
                          {{.name = "y", .kind = nn::OutputKind::values, .loss = "mean-squared-error", .metric = ""}});
}

json json_of(const Tree& tree) {
  json all;
  for (const auto& [path, tensor] : leaves(tree)) {
    const Tensor wide = cast(tensor, DType::f64);
    all[path] = wide.to_vector<double>();
  }
  return all;
}

// What is beside a solver.
struct Around {
  double l2 = 0, threshold = 0, average_decay = 0;
  const char* method = "l2norm";
};

// In f32, by the trainer.
json trained(const std::string& solver, const OptionValues& options, const Around& around) {
  const nn::Network network = start();
  const auto made = train_network(array_store({inputs(), targets()}), network, network.loss,
                                  {.training = {.solver = solver,
                                                .max_epochs = kSteps,
                                                .mini_batch_size = kSamples,
                                                .initial_learn_rate = kLearnRate,
                                                .l2_regularization = around.l2,
                                                .gradient_threshold = around.threshold,
                                                .gradient_threshold_method = around.method,
                                                .average_decay = around.average_decay,
                                                .shuffle = "never",
                                                .options = options}});
  return json_of(made.network.parameters);
}

// The same in f64, by a loop of one's own.
json looped(const SolverKind& solver, const OptionValues& options, const Around& around) {
  const auto wide = [](const Tensor& x) { return cast(x, DType::f64); };
  const Tensor x = wide(inputs()), t = wide(targets());
  auto step = value_and_grad([](const Tree& p, const Tensor& x, const Tensor& t) {
    return mean_squared_error(linear(softmax(linear(x, p["linear_1"]), "C"), p["linear_2"]), t);
  });
  const std::string method = around.method;
  const Clip clip = method == "l2norm"          ? Clip::l2_norm
                    : method == "global-l2norm" ? Clip::global_l2_norm
                                                : Clip::absolute_value;
  Tree parameters = map(start().parameters, wide), average = parameters, state = solver.initial(parameters, options);
  for (int64_t i = 1; i <= kSteps; ++i) {
    Tree gradients = step(parameters, x, t).gradients;
    if (around.l2 > 0) gradients = l2_regularization(parameters, gradients, around.l2);
    if (around.threshold > 0) gradients = clip_gradients(gradients, around.threshold, clip);
    const auto made = solver.update(parameters, gradients, state, kLearnRate, options);
    parameters = made.parameters, state = made.state;
    if (around.average_decay > 0)
      average = average_weights(average, parameters, std::fmax(1 - around.average_decay, 1.0 / static_cast<double>(i)));
  }
  return json_of(around.average_decay > 0 ? average : parameters);
}

json solvers() {
  json cases = json::array();
  const auto add = [&](const SolverKind& solver, const OptionValues& options, const Around& around) {
    cases.push_back({{"solver", solver.name},
                     {"options", json_of(options)},
                     {"l2_regularization", around.l2},
                     {"gradient_threshold", around.threshold},
                     {"gradient_threshold_method", around.method},
                     {"average_decay", around.average_decay},
                     {"f32", trained(solver.name, options, around)},
                     {"f64", looped(solver, options, around)}});
  };
  for (const auto& solver : all_solvers()) {
    if (!solver.update) continue;
    for (const auto& options : choices(solver.options)) add(solver, options, {});
    const OptionValues standard = with_standard_values({}, solver.options);
    add(solver, standard, {.l2 = 0.05});
    add(solver, standard, {.threshold = 0.05, .method = "l2norm"});
    add(solver, standard, {.l2 = 0.05, .threshold = 0.1, .method = "global-l2norm"});
    add(solver, standard, {.threshold = 0.01, .method = "absolute-value"});
    add(solver, standard, {.average_decay = 0.875});
  }
  return {{"steps", kSteps},
          {"learn_rate", kLearnRate},
          {"x", json_of(Tree{{"x", inputs()}})["x"]},
          {"t", json_of(Tree{{"t", targets()}})["t"]},
          {"features", kFeatures},
          {"targets", kTargets},
          {"start", json_of(start().parameters)},
          {"cases", std::move(cases)}};
}

// --- Schedules: the rates of 50 steps, 5 in an epoch

json rates(const LearnRate& rate) {
  json all = json::array();
  for (int64_t i = 0; i < kSteps; ++i)
    all.push_back(rate({.iteration = i, .iterations = kSteps, .epoch = 1 + i / kStepsOfEpoch}));
  return all;
}

json schedules() {
  json cases = json::array();
  for (const auto& schedule : all_schedules())
    for (const auto& options : choices(schedule.options))
      cases.push_back({{"schedule", schedule.name},
                       {"options", json_of(options)},
                       {"rates", rates(learn_rate(kLearnRate, {schedule.name, options}))}});
  const LearnRate rise = learn_rate(kLearnRate, {"warm-up", {{"warm_up_iterations", int64_t{10}}}});
  cases.push_back({{"schedule", "composed(warm-up, 10, cosine)"},
                   {"options", json::object()},
                   {"rates", rates(composed(rise, 10, learn_rate(kLearnRate, {"cosine"})))}});
  return {
      {"steps", kSteps}, {"steps_of_epoch", kStepsOfEpoch}, {"learn_rate", kLearnRate}, {"cases", std::move(cases)}};
}

// --- Metrics: of drawn sets

struct Set {
  const char* what;
  nn::OutputKind kind;
  Tensor y, t;
};

// Scores in 0..1, of so many different values (0: all), and classes of the range.
Set classes(const char* what, uint32_t salt, int64_t samples, int64_t width, int64_t levels, int64_t first,
            int64_t end) {
  auto scores = synthetic({samples, width}, salt).to_vector<float>();
  if (levels > 0)
    for (float& score : scores) score = std::floor(score * static_cast<float>(levels)) / static_cast<float>(levels);
  std::vector<int32_t> labels;
  for (const float u : synthetic({samples}, salt + 100).to_vector<float>())
    labels.push_back(static_cast<int32_t>(first + static_cast<int64_t>(u * static_cast<float>(end - first))));
  return {what, nn::OutputKind::class_scores, Tensor::from(scores, {samples, width}, "BC"),
          Tensor::from(labels, {samples}, "B")};
}

Set values(const char* what, nn::OutputKind kind, uint32_t salt, const Shape& shape, float scale, float shift) {
  const std::string labels(kind == nn::OutputKind::image ? "BSSC" : "BC");
  return {what, kind, synthetic(shape, salt, labels) * scale + shift,
          synthetic(shape, salt + 100, labels) * scale + shift};
}

std::vector<Set> sets() {
  constexpr auto image = nn::OutputKind::image;
  const Tensor steady = Tensor::from<float>({5, 1, 5, 2, 5, 3}, {3, 2}, "BC"),
               beside = Tensor::from<float>({5, 1, 6, 2, 5, 4}, {3, 2}, "BC");
  return {
      classes("2 classes", 1, 61, 2, 0, 0, 2),
      classes("2 classes, ties", 2, 61, 2, 4, 0, 2),
      classes("5 classes", 3, 97, 5, 0, 0, 5),
      classes("5 classes, ties", 4, 97, 5, 5, 0, 5),
      classes("7 classes, 3 of them absent, ties", 5, 80, 7, 6, 2, 6),
      classes("4 classes, samples of one alone", 6, 40, 4, 8, 1, 2),
      classes("2 classes, samples of one alone", 7, 20, 2, 3, 1, 2),
      classes("1 sample", 8, 1, 3, 0, 0, 3),
      values("1 feature", nn::OutputKind::values, 9, {50, 1}, 20, -10),
      values("3 features", nn::OutputKind::values, 10, {50, 3}, 1000, 0),
      {"targets of 0", nn::OutputKind::values, synthetic({20, 2}, 11, "BC"), Tensor::zeros({20, 2}, DType::f32, "BC")},
      {"a target that is always 5", nn::OutputKind::values, beside, steady},
      {"equal values", nn::OutputKind::values, steady, steady},
      values("images", image, 12, {10, 4, 4, 3}, 1, 0),
      values("images around 0", image, 13, {10, 4, 4, 3}, 2, -1)};
}

// In mini-batches of 7, as the evaluator does it: the numbers of samples follow each other, others are added.
json measured(const MetricKind& metric, const Set& set, const OptionValues& options) {
  const int64_t samples = set.y.shape()[0];
  std::vector<double> all;
  int64_t width = 0;
  for (int64_t first = 0; first < samples; first += 7) {
    const int64_t end = std::min(first + 7, samples);
    const auto batch = metric_batch(set.kind, slice(set.y, {.begin = {first}, .end = {end}}),
                                    slice(set.t, {.begin = {first}, .end = {end}}));
    const auto found = metric.of_batch(batch, options);
    width = batch.width;
    if (metric.by_sample || all.empty()) {
      all.insert(all.end(), found.begin(), found.end());
    } else {
      for (size_t i = 0; i < all.size(); ++i) all[i] += found[i];
    }
  }
  const MetricNumbers numbers{all, samples, width};
  return metric.table ? json(metric.table(numbers)) : json(metric.value(numbers, options));
}

json metrics() {
  json found = json::array();
  for (const auto& set : sets()) {
    json cases = json::array();
    for (const auto& metric : all_metrics())
      if (measures(metric, set.kind))
        for (const auto& options : choices(metric.options))
          cases.push_back(
              {{"metric", metric.name}, {"options", json_of(options)}, {"value", measured(metric, set, options)}});
    const bool scores = set.kind == nn::OutputKind::class_scores;
    found.push_back({{"what", set.what},
                     {"scores", scores},
                     {"samples", set.y.shape()[0]},
                     {"y", set.y.to_vector<float>()},
                     {"t", scores ? json(set.t.to_vector<int32_t>()) : json(set.t.to_vector<float>())},
                     {"cases", std::move(cases)}});
  }
  return found;
}

}  // namespace
}  // namespace retrace::bench

int main() {
  using namespace retrace::bench;
  const json all{{"solvers", solvers()}, {"minima", minima()}, {"schedules", schedules()}, {"metrics", metrics()}};
  std::puts(all.dump().c_str());
}
