// Experiments of one's own function: strategies, pruning, studies.
#include "retrace/experiment/experiment.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "retrace/base/error.h"
#include "retrace/experiment/plan.h"
#include "retrace/experiment/strategy_kind.h"
#include "retrace/experiment/study.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

ExperimentOptions two_parameters() {
  return {.parameters = {{.name = "x", .low = -2, .high = 2}, {.name = "y", .low = 1e-3, .high = 10, .log = true}}};
}

// Smallest at x = 0.5, y = 0.1.
double bowl(const OptionValues& at) {
  const double x = at.number("x") - 0.5, y = std::log10(at.number("y")) + 1;
  return x * x + y * y;
}

std::string text_of(const std::vector<TrialRecord>& trials) {
  std::string text;
  for (const auto& trial : trials) {
    text += std::to_string(trial.number) + " " + state_name(trial.state) + " " + values_json(trial.parameters) + " " +
            std::to_string(trial.seed) + " " + value_text(trial.value);
    for (const auto& report : trial.reports) text += " " + std::to_string(report.step) + ":" + value_text(report.value);
    text += "\n";
  }
  return text;
}

TEST(Experiment, AGridHasEveryCombinationThatSatisfiesTheConstraints) {
  Experiment grid({.parameters = {{.name = "a.batch", .values = {int64_t{16}, int64_t{32}, int64_t{64}}},
                                  {.name = "rate", .low = 0.01, .high = 1, .log = true, .points = 3},
                                  {.name = "kind", .values = {std::string("p"), std::string("q")}}},
                   .constraints = {"a.batch * rate <= 6.4"},
                   .strategy = "grid"});
  std::set<std::string> seen;
  const auto result = grid.run([&](Trial& trial) {
    const auto& at = trial.parameters();
    EXPECT_LE(static_cast<double>(at.integer("a.batch")) * at.number("rate"), 6.4);
    seen.insert(values_json(at));
    return at.number("rate");
  });
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.trials.size(), 12U);  // of 18: all with rate 0.01 and 0.1
  EXPECT_EQ(seen.size(), 12U);
  EXPECT_EQ(result.best, 1);
  EXPECT_EQ(result.trials[0].parameters.number("rate"), 0.01);
  EXPECT_EQ(result.trials[2].parameters.number("rate"), 0.1);
}

TEST(Experiment, SimultaneousTrialsAreThoseOfASequence) {
  for (const char* strategy : {"grid", "random", "bayesian"}) {
    for (const char* pruning : {"none", "median", "halving"}) {
      SCOPED_TRACE(std::string(strategy) + " " + pruning);
      const auto run = [&](int simultaneous) {
        ExperimentOptions options = two_parameters();
        options.strategy = strategy, options.pruning = pruning, options.trials = 24, options.seed = 7;
        options.simultaneous = simultaneous;
        for (auto& parameter : options.parameters) parameter.points = 5;
        return Experiment(options).run([](Trial& trial) {
          const double end = bowl(trial.parameters());
          for (int step = 1; step <= 9; ++step) {
            trial.report(step, end + 1.0 / step);
            if (trial.should_stop()) break;
          }
          return end;
        });
      };
      const auto one = run(1);
      EXPECT_EQ(one.trials.size(), 24U);
      EXPECT_EQ(text_of(one.trials), text_of(run(4).trials));
      const bool pruned = text_of(one.trials).find("pruned") != std::string::npos;
      EXPECT_EQ(pruned, std::string(pruning) != "none");
    }
  }
}

// The validation losses of a small training, one for each epoch; fewer where it diverges.
std::vector<double> learning_curve(const OptionValues& at) {
  class Curve : public Monitor {
   public:
    void receive(const Event& event) override {
      if (const auto* measured = std::get_if<ValidationDone>(&event)) losses.push_back(measured->loss);
    }
    std::vector<double> losses;
  };
  const auto text = fmt::format(
      "[network]\nname = \"peaks\"\nwidth = {}\n[data]\nsource = \"peaks\"\ntrain_samples = 400\ntest_samples = 100\n"
      "[training]\nmax_epochs = 9\nmini_batch_size = {}\nsolver = \"{}\"\ninitial_learn_rate = {}\n",
      at.integer("width"), at.integer("batch"), at.text("solver"), at.number("rate"));
  Curve curve;
  train_job(parse_job(text, "peaks.toml"), {.write_run = false, .monitor = &curve});
  return curve.losses;
}

// The trainings of a grid, each made once, are the trials of experiments in 20 orders.
TEST(Experiment, PruningFindsTheBestOfAGridAtHalfItsCost) {
  std::map<std::string, std::vector<double>> curves;
  size_t steps = 0;
  const auto best = [&](const char* pruning, uint64_t seed) {
    Experiment grid({.parameters = {{.name = "rate", .low = 1e-4, .high = 1e-1, .log = true, .points = 7},
                                    {.name = "solver", .values = {std::string("adam"), std::string("sgdm")}},
                                    {.name = "width", .values = {int64_t{10}, int64_t{20}}},
                                    {.name = "batch", .values = {int64_t{16}, int64_t{64}}}},
                     .strategy = "grid",
                     .pruning = pruning,
                     .seed = seed});
    const auto result = grid.run([&](Trial& trial) {
      const auto [found, missing] = curves.try_emplace(values_json(trial.parameters()));
      auto& curve = found->second;
      if (missing) curve = learning_curve(trial.parameters());
      for (size_t i = 0; i < curve.size() && !trial.should_stop(); ++i)
        trial.report(static_cast<int64_t>(i) + 1, curve[i]);
      return curve.size() == 9 ? curve.back() : std::nan("");
    });
    EXPECT_EQ(result.trials.size(), 56U);
    steps = 0;
    for (const auto& trial : result.trials) steps += trial.reports.size();
    return values_json(result.trials[static_cast<size_t>(result.best - 1)].parameters);
  };
  const std::string whole = best("none", 0);
  const size_t cost = steps;
  for (const char* pruning : {"halving", "median"}) {
    SCOPED_TRACE(pruning);
    constexpr uint64_t kOrders = 20;
    size_t pruned = 0;
    for (uint64_t seed = 0; seed < kOrders; ++seed) {
      EXPECT_EQ(best(pruning, seed), whole);
      pruned += steps;
    }
    EXPECT_LE(2 * pruned, kOrders * cost);
  }
  EXPECT_EQ(curves.size(), 56U);
}

TEST(Experiment, AStudyGoesOnToTheSameTrials) {
  const TemporaryFolder folder;
  ExperimentOptions options = two_parameters();
  options.strategy = "bayesian", options.pruning = "median", options.trials = 16;
  const auto function = [](Trial& trial) {
    const double end = bowl(trial.parameters());
    for (int step = 1; step <= 5 && !trial.should_stop(); ++step) trial.report(step, end + 1.0 / step);
    return end;
  };
  const auto whole = Experiment(options).run(function);
  options.study = (folder.path() / "study").string();
  std::atomic<int> calls = 0;
  bool complete = false;
  for (int round = 0; round < 40 && !complete; ++round) {
    calls = 0;  // each run is told to stop within its third trial
    complete = Experiment(options)
                   .run([&](Trial& trial) { return ++calls, function(trial); }, [&] { return calls >= 3; })
                   .complete;
  }
  EXPECT_TRUE(complete);
  EXPECT_EQ(text_of(Study(options.study, Study::Use::read).trials()), text_of(whole.trials));
  // More trials go on; another seed is another experiment.
  options.trials = 17;
  EXPECT_EQ(Experiment(options).run(function).trials.size(), 17U);
  options.seed = 1;
  EXPECT_TRUE(says(error_of([&] { Experiment(options).run(function); }), "the study is of another experiment"));
}

TEST(Experiment, OneWriterHasAStudy) {
  const TemporaryFolder folder;
  const Study study(folder.path() / "study", Study::Use::write);
  EXPECT_TRUE(
      says(error_of([&] { Study(folder.path() / "study", Study::Use::write); }), "is written by another process"));
  EXPECT_TRUE(is_written(folder.path() / "study"));
  EXPECT_TRUE(Study(folder.path() / "study", Study::Use::read).trials().empty());
  EXPECT_TRUE(says(error_of([&] { Study(folder.path() / "none", Study::Use::read); }), "study"));
}

TEST(Experiment, KeepsValuesToTheBitAndTheirTypes) {
  const SearchSpace space({{.name = "a", .low = 0, .high = 1},
                           {.name = "b", .low = 1, .high = 9, .integer = true},
                           {.name = "c", .values = {3.0, 4.5}},
                           {.name = "d", .values = {std::string("x,\"y"), std::string("3")}},
                           {.name = "e", .values = {true, false}},
                           {.name = "f", .values = {std::vector<std::string>{"p", "q"}, std::vector<std::string>{"p"}}},
                           {.name = "g", .values = {std::vector<double>{1.0, 2.0}, std::vector<double>{0.1, 0.2}}}},
                          {});
  OptionValues values{{"a", 0.1 + 0.2}, {"b", int64_t{3}}, {"c", 3.0}, {"d", std::string("x,\"y")}, {"e", true}};
  values.set("f", std::vector<std::string>{"p", "q"});
  values.set("g", std::vector<double>{1.0, 2.0});
  EXPECT_EQ(space.typed(values_from_json(values_json(values))), values);
  values.set("a", 1.0);
  EXPECT_EQ(space.typed(values_from_json(values_json(values))), values);
}

TEST(Experiment, ATrialThatThrowsFailsAlone) {
  ExperimentOptions options = two_parameters();
  options.trials = 6;
  const auto result = Experiment(options).run([](Trial& trial) {
    if (trial.number() == 2) throw std::runtime_error("no such thing");
    return trial.number() == 3 ? std::nan("") : static_cast<double>(trial.number());
  });
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.trials[1].state, TrialState::failed);
  EXPECT_EQ(result.trials[1].error, "no such thing");
  EXPECT_EQ(result.trials[2].state, TrialState::diverged);
  EXPECT_EQ(result.best, 1);
}

TEST(Experiment, TheBayesianStrategyFindsAHollow) {
  ExperimentOptions options = two_parameters();
  options.strategy = "bayesian", options.trials = 25, options.window = 1;
  const auto result = Experiment(options).run([](Trial& trial) { return bowl(trial.parameters()); });
  EXPECT_LT(result.trials[static_cast<size_t>(result.best - 1)].value, 1e-3);
}

// What the Bayesian strategy suggests after trials of the bowl at random points, one point after the other
// without the results of those before.
std::vector<SearchSpace::Point> suggested(const SearchSpace& space, int known, int count, double* least = nullptr) {
  StrategyView view{.space = space, .number = known + 1};
  RandomStream stream(1, "test", 0, 0, 0);
  for (int i = 0; i < known; ++i) {
    auto point = random_point(space, stream);
    const double value = bowl(space.values(point));
    if (least && (i == 0 || value < *least)) *least = value;
    view.known.push_back({std::move(point), value});
  }
  for (; count > 0; --count, ++view.number)
    view.pending.push_back(
        *kind_of(all_strategies(), "bayesian", "strategy", {}).suggest(view, {{"first_trials", int64_t{0}}}));
  return view.pending;
}

TEST(Experiment, SuggestionsWhoseResultsAreAwaitedLieApart) {
  const SearchSpace space(two_parameters().parameters, {});
  const auto points = suggested(space, 8, 4);
  for (size_t i = 0; i < points.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_GT(std::hypot(points[i][0] - points[j][0], points[i][1] - points[j][1]), 0.01);
}

// A model of all of them would take minutes.
TEST(Experiment, TheBayesianStrategyKnowsTheBestOfManyTrials) {
  const SearchSpace space(two_parameters().parameters, {});
  double least = 0;
  const auto points = suggested(space, 1000, 1, &least);
  EXPECT_LT(bowl(space.values(points[0])), least);
}

TEST(Experiment, EachTrialHasASeedOfItsOwn) {
  ExperimentOptions options = two_parameters();
  options.trials = 50;
  std::set<uint64_t> seeds;
  Experiment(options).run([&](Trial& trial) { return seeds.insert(trial.seed()), 0.0; });
  EXPECT_EQ(seeds.size(), 50U);
  EXPECT_LT(*seeds.rbegin(), uint64_t{1} << 53);
}

TEST(Experiment, RefusesWhatIsNotInOrder) {
  const auto refused = [](ExperimentOptions options, const char* text) {
    EXPECT_TRUE(says(error_of([&] { Experiment{options}; }), text));
  };
  refused({}, "varies one parameter");
  refused({.parameters = {{.name = "x", .low = 1, .high = 1}}}, "a range goes from low");
  refused({.parameters = {{.name = "x", .low = 0, .high = 1, .log = true}}}, "begins above 0");
  refused({.parameters = {{.name = "x", .low = 0.5, .high = 2, .integer = true}}}, "whole numbers");
  refused({.parameters = {{.name = "x", .values = {1.0, 1.0}}}}, "stands twice");
  refused({.parameters = {{.name = "x", .low = 0, .high = 1}}, .strategy = "grid"}, "add points = 5");
  refused({.parameters = {{.name = "x", .low = 0, .high = 1}}, .constraints = {"x > 2"}}, "do not satisfy");
  refused({.parameters = {{.name = "x", .low = 0, .high = 1}}, .strategy = "bayes"}, "there is no strategy");
  refused(
      {.parameters = {{.name = "x", .low = 0, .high = 1}}, .pruning = "median", .pruning_options = {{"factor", 2.0}}},
      "no option");
  refused({.parameters = {{.name = "x", .low = 0, .high = 1}}, .window = 0}, "window");
}

}  // namespace
}  // namespace retrace
