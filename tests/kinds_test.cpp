// Everything that jobs name: that each describing value is complete, and fits to those that it names.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "retrace/data/source_kind.h"
#include "retrace/data/transform_kind.h"
#include "retrace/monitor/sink_kind.h"
#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layer_made.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/nn/network_kind.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/train/job_check.h"
#include "retrace/train/job_fields.h"
#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

// Names as users type them, one line of help each.
template <class Kind>
void check_names(const std::vector<Kind>& kinds) {
  std::set<std::string> seen;
  ASSERT_FALSE(kinds.empty());
  for (const auto& kind : kinds) {
    EXPECT_TRUE(seen.insert(kind.name).second) << kind.name << " stands twice";
    EXPECT_EQ(kind.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos) << kind.name;
    EXPECT_FALSE(kind.help.empty()) << kind.name;
    EXPECT_EQ(kind.help.find('\n'), std::string::npos) << kind.name;
  }
}

TEST(Kinds, HaveNamesAndHelp) {
  check_names(nn::all_networks());
  check_names(nn::all_losses());
  check_names(all_metrics());
  check_names(all_solvers());
  check_names(all_schedules());
  check_names(all_sources());
  check_names(all_transforms());
  check_names(all_sinks());
}

// In a section of a job a key means one thing: it has one type.
TEST(Kinds, HaveOptionsThatAJobCanTellApart) {
  std::map<std::string, size_t> types;
  const auto look = [&](const std::string& section, const auto& kinds) {
    for (const auto& kind : kinds)
      for (const auto& rule : kind.options) {
        const auto [known, made] = types.emplace(section + "." + std::string(rule.name), rule.standard.index());
        EXPECT_EQ(known->second, rule.standard.index()) << known->first << " of " << kind.name;
        EXPECT_FALSE(rule.help.empty()) << known->first;
      }
  };
  look("network", nn::all_networks());
  look("data", all_sources());
  look("data", all_transforms());
  look("training", all_solvers());
  look("training", all_schedules());
  const auto keys = job_keys();
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size()) << "an option has the name of a key";
}

TEST(Kinds, ANetworkFindsWhatItNames) {
  for (const auto& network : nn::all_networks()) {
    SCOPED_TRACE(network.name);
    Job job;
    job.network.name = network.name;
    EXPECT_TRUE(find_mistakes(resolved(job), {}).empty());
    for (const auto& output : network.outputs) EXPECT_NO_THROW(metric_of(output));
    EXPECT_NO_THROW(nn::loss_of(network.outputs));
    EXPECT_GE(network.width, network.least_width);
  }
}

// Types of layers are names of functions, and have options that read their own defaults.
TEST(Kinds, ALayerIsMadeOfItsOptions) {
  for (const auto& kind : nn::all_layers()) {
    SCOPED_TRACE(kind.name);
    EXPECT_EQ(kind.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
    EXPECT_FALSE(kind.help.empty());
    nn::LayerText text{.type = kind.name};
    for (const auto& name : kind.required) text.options.set(name, int64_t{1});
    std::vector<Error> errors;
    const OptionValues options = nn::completed_options(text, kind.name, errors);
    throw_all(errors);
    for (const auto& rule : kind.options) EXPECT_FALSE(rule.help.empty()) << rule.name;
    const nn::Layer layer = kind.layer(options);
    EXPECT_EQ(layer.has_entry(), kind.learns);
    ASSERT_NE(layer.made_from(), nullptr) << "its function ends with .with_options(...)";
    EXPECT_EQ(layer.made_from()->type, kind.name);
    EXPECT_EQ(layer.made_from()->options, options);
    text.options = options;
    EXPECT_EQ(nn::completed_options(text, kind.name, errors), options);
    EXPECT_TRUE(errors.empty());
  }
}

// What a source says before it reads anything is what it reads.
TEST(Kinds, ASourceGivesWhatItDescribes) {
  for (const auto& source : all_sources())
    for (const Split split : {Split::train, Split::test}) {
      if (source.reads_folder) continue;
      SCOPED_TRACE(source.name);
      const SourceRequest request{.samples = 16, .seed = 1, .options = completed({}, source.options, source.name)};
      const SourceDescription said = source.description(split, request);
      const Datastore store = source.load(split, request).store;
      EXPECT_EQ(said.samples, store.size());
      ASSERT_EQ(said.variables.size(), static_cast<size_t>(store.variables()));
      ASSERT_EQ(said.variables.size(), source.targets.size() + 1);
      const Observation one = store.get(0);
      for (size_t v = 0; v < one.size(); ++v) EXPECT_EQ(one[v].spec(), said.variables[v]) << one[v].spec().text();
    }
}

// A number, or a table; of samples, or of mini-batches.
TEST(Kinds, AMetricMeasuresTheOutputsThatItNames) {
  const Tensor scores = Tensor::full(0.25, {3, 4}, DType::f32, "BC"), labels = Tensor::from({0, 3, 1}, {3}, "B");
  const Tensor targets = Tensor::full(0.5, {3, 4}, DType::f32, "BC");
  for (const auto& metric : all_metrics())
    for (const auto kind : metric.outputs) {
      SCOPED_TRACE(metric.name);
      const OptionValues options = with_standard_values({}, metric.options);
      if (metric.of_tensors) {
        const auto numbers = metric.of_tensors(reshape(scores, {1, 3, 4}), reshape(labels, {1, 3}));
        EXPECT_TRUE(std::isfinite(metric.value({numbers, 1, 1}, options)));
        continue;
      }
      const bool positions = kind == nn::OutputKind::position_scores || has_padding(kind);
      const auto batch = positions
                             ? metric_batch(kind, reshape(scores, {1, 3, 4}),
                                            is_scores(kind) ? reshape(labels, {1, 3}) : reshape(targets, {1, 3, 4}))
                             : metric_batch(kind, scores, is_scores(kind) ? labels : targets);
      const auto numbers = metric.of_batch(batch, options);
      const MetricNumbers all{numbers, batch.samples, batch.width};
      EXPECT_TRUE(!metric.by_sample || numbers.size() % 3 == 0);
      ASSERT_NE(static_cast<bool>(metric.value), static_cast<bool>(metric.table));
      EXPECT_TRUE(metric.value ? std::isfinite(metric.value(all, options)) : !metric.table(all).empty());
    }
}

// The state has its structure before the first step, so that every step has one form.
TEST(Kinds, ASolverKeepsTheStructureOfItsState) {
  const Tree parameters{{"a", Tensor::full(1, {2})}, {"b", Tree{{"weights", Tensor::full(1, {2, 2})}}}};
  for (const auto& solver : all_solvers()) {
    SCOPED_TRACE(solver.name);
    const OptionValues options = with_standard_values({}, solver.options);
    const Tree before = solver.initial(parameters, options);
    if (solver.step_on_all) {
      const auto loss = [](const Tree& p) {
        const Tensor a = p["a"], b = p["b"]["weights"];
        return sum(a * a) + sum(b * b);
      };
      const auto curvature = [](const Tree&) { return Tensor::eye(6) * 2.0f; };
      const auto made = solver.step_on_all(parameters, {value_and_grad(loss), curvature}, before, options);
      check_same_structure(before, made.state, "state");
      EXPECT_NE(made.parameters["a"].tensor().to_vector<float>(), parameters["a"].tensor().to_vector<float>());
      continue;
    }
    const auto made = solver.update(parameters, parameters, before, 0.5f, options);
    check_same_structure(parameters, made.parameters, "parameters");
    check_same_structure(before, made.state, "state");
    EXPECT_NE(made.parameters["a"].tensor().to_vector<float>(), parameters["a"].tensor().to_vector<float>());
  }
}

TEST(Kinds, ASinkTellsOfARun) {
  for (const auto& sink : all_sinks()) {
    std::string told;
    const auto monitor = sink.make({[&](const std::string& text, bool) { told += text; }, {}});
    monitor->receive(RunStarted{.job = "seen", .device = "cpu", .run_dir = "", .epochs = 1, .iterations_per_epoch = 1});
    monitor->receive(EpochDone{.epoch = 1, .iteration = 1, .loss = 0.25});
    monitor->receive(RunFinished{
        .epoch = 1, .iteration = 1, .loss = 0.25, .metrics = {}, .stop_reason = "ended", .fingerprint = ""});
    for (const char* part : {"seen", "0.25", "ended"}) EXPECT_NE(told.find(part), std::string::npos) << sink.name;
  }
}

// The length of a schedule is an option of its own, a count.
TEST(Kinds, AScheduleWithALengthHasTheOption) {
  for (const auto& schedule : all_schedules()) {
    if (schedule.length.empty()) continue;
    const auto same = [&](const OptionRule& rule) {
      return rule.name == schedule.length && std::holds_alternative<int64_t>(rule.standard);
    };
    EXPECT_TRUE(std::any_of(schedule.options.begin(), schedule.options.end(), same)) << schedule.name;
  }
}

// Or rises to it.
TEST(Kinds, AScheduleBeginsWithTheInitialRate) {
  for (const auto& schedule : all_schedules()) {
    const double first = learn_rate(0.5, {schedule.name})({.iteration = 0, .iterations = 100, .epoch = 1});
    if (schedule.name == "warm-up")
      EXPECT_TRUE(first > 0 && first < 0.5);
    else
      EXPECT_EQ(first, 0.5) << schedule.name;
  }
}

}  // namespace
}  // namespace retrace
