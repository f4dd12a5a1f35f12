#include "retrace/train/test_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/train/evaluate_network.h"
#include "retrace/train/job_fields.h"
#include "retrace/train/job_scope.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_network.h"
#include "retrace/train/run_table.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

constexpr const char* kConfusion = "confusion-matrix";

// Whether another value measures the same network, in the same way. A run of a program says nothing of its data.
bool may_be_replaced(const std::string& key, bool program) {
  if (section_of(key) == "data") return program || key != "data.source";
  if (key == "device" || key == "threads" || key == "training.metrics") return true;
  for (const auto& metric : all_metrics())
    for (const auto& option : metric.options)
      if (key == fmt::format("training.{}", option.name)) return true;
  return false;
}

void check_overrides(const std::vector<JobOverride>& overrides, bool program) {
  const auto known = job_keys();
  std::vector<Error> errors;
  for (const auto& one : overrides)
    if (std::count(known.begin(), known.end(), one.key) && !may_be_replaced(one.key, program))
      errors.push_back(
          Error(ErrorKind::usage, 471, fmt::format("a run is tested as it was trained: {} cannot be replaced", one.key))
              .where(one.place)
              .help(fmt::format("keys of [data]{}, training.metrics with its options, device and threads can be",
                                program ? "" : " but its source")));
  throw_all(errors);
}

// The names that the run keeps, which are those of the data: else a class would be taken for another one. Runs of
// earlier versions keep none.
ClassNames names_of(const Job& job, const ClassNames& kept) {
  const ClassNames found = class_names_of(job, kept);
  if (kept.empty() || kept == found) return found;
  const auto [first, other] = std::mismatch(kept.begin(), kept.end(), found.begin(), found.end());
  const auto number = first - kept.begin();
  throw Error(ErrorKind::bad_data, 671, "the data have other classes than the run was trained on")
      .where(printable(job.data.path))
      .got(other == found.end() ? fmt::format("{} classes", found.size())
                                : fmt::format("class {} is \"{}\"", number, printable(*other)))
      .expected(first == kept.end() ? fmt::format("{} classes", kept.size())
                                    : fmt::format("class {} is \"{}\"", number, printable(*first)))
      .help(
          "the folders or labels of its training set must be all the classes of the run, which are in its "
          "classes.json");
}

std::vector<TestedClasses> tested_classes(const ClassNames& known, const nn::Network& network,
                                          const NetworkScore& score) {
  std::vector<TestedClasses> all;
  for (const auto& metric : metrics_of(network.outputs, {.names = {kConfusion}})) {
    const auto& output = network.outputs[metric.output].name;
    const auto found = std::find_if(score.tables.begin(), score.tables.end(),
                                    [&](const auto& table) { return table.first == metric.name; });
    std::vector<double> counts;
    for (const auto& row : found->second) counts.insert(counts.end(), row.begin(), row.end());
    const auto classes = static_cast<int64_t>(found->second.size());
    std::vector<std::string> names;
    for (int64_t c = 0; c < classes; ++c) names.push_back(class_name(known, c));
    all.push_back({output, std::move(names), class_measures(counts, classes), metric.name});
  }
  return all;
}

}  // namespace

TestRunResult test_run(const std::filesystem::path& run, const TestRunOptions& options) {
  const FloatingPointScope floating_point;
  check_run_folder(run);
  check_overrides(options.overrides, is_run_of_program(run));
  const auto [job, network] = read_run_to_test(run, options.overrides);
  const JobScope scope(settings_of(job));
  Device& device = find_device(job.device, 0, {});
  const auto [parameters, state] = from_safetensors(read_run_weights(run), {network.parameters, network.state},
                                                    (run / "weights.safetensors").string());
  const TrainingFacts training = read_run_facts(run);
  const ClassNames names =
      training.features.empty() ? names_of(job, training.class_names) : kept_class_names(training.class_names);
  const JobData data = load_test_data(job, network, training);
  MetricChoice metrics{job.training.metrics, job.training.options};
  if (options.classes) metrics.more = {kConfusion};
  NetworkEvaluator evaluate(network, data, job.training.mini_batch_size, job.training.acceleration == "accelerated",
                            device, metrics);
  const NetworkScore score = evaluate(parameters.to(device), state.to(device));
  const bool known = std::none_of(network.outputs.begin(), network.outputs.end(),
                                  [](const nn::NetworkOutput& output) { return output.loss.empty(); });
  TestRunResult result{job.name, data.test.size(), score.loss, known, score.metrics, score.tables};
  if (options.classes) result.classes = tested_classes(names, network, score);
  return result;
}

}  // namespace retrace
