#include "retrace/train/test_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/fp_environment.h"
#include "retrace/train/evaluate_network.h"
#include "retrace/train/job_fields.h"
#include "retrace/train/job_scope.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

constexpr const char* kConfusion = "confusion-matrix";

// Whether another value measures the same network, in the same way.
bool may_be_replaced(const std::string& key) {
  if (section_of(key) == "data") return key != "data.source";
  if (key == "device" || key == "threads" || key == "training.metrics") return true;
  for (const auto& metric : all_metrics())
    for (const auto& option : metric.options)
      if (key == "training." + option.name) return true;
  return false;
}

Job job_to_test(const std::filesystem::path& run, const std::vector<JobOverride>& overrides) {
  const Job job = read_run_job(run);
  const auto known = job_keys();
  std::vector<Error> errors;
  for (const auto& one : overrides)
    if (std::count(known.begin(), known.end(), one.key) && !may_be_replaced(one.key))
      errors.push_back(
          Error(ErrorKind::usage, 471, fmt::format("a run is tested as it was trained: {} cannot be replaced", one.key))
              .where(one.place)
              .help("keys of [data] but its source, training.metrics with its options, device and threads can be"));
  throw_all(errors);
  return overrides.empty() ? job : read_job(run / "job.toml", overrides);
}

std::vector<std::string> class_names(const Job& given, int64_t classes) {
  const Job job = resolved(given);
  std::vector<std::string> names;
  if (const auto& source = source_of(job); source.class_names) names = source.class_names(source_request(job, 0));
  for (auto next = static_cast<int64_t>(names.size()); next < classes; ++next) names.push_back(fmt::format("{}", next));
  return names;
}

std::vector<TestedClasses> tested_classes(const Job& job, const nn::Network& network, const NetworkScore& score) {
  std::vector<TestedClasses> all;
  for (const auto& metric : metrics_of(network.outputs, {.names = {kConfusion}})) {
    const auto& output = network.outputs[metric.output].name;
    const auto found = std::find_if(score.tables.begin(), score.tables.end(),
                                    [&](const auto& table) { return table.first == metric.name; });
    std::vector<double> counts;
    for (const auto& row : found->second) counts.insert(counts.end(), row.begin(), row.end());
    const auto classes = static_cast<int64_t>(found->second.size());
    all.push_back({output, class_names(job, classes), class_measures(counts, classes), metric.name});
  }
  return all;
}

}  // namespace

TestRunResult test_run(const std::filesystem::path& run, const TestRunOptions& options) {
  const FloatingPointScope floating_point;
  check_run_folder(run);
  const Job job = job_to_test(run, options.overrides);
  const JobScope scope(settings_of(job));
  Device& device = find_device(job.device, 0, {});
  const nn::Network network = make_job_network(job);
  const auto [parameters, state] = from_safetensors(read_run_weights(run), {network.parameters, network.state},
                                                    (run / "weights.safetensors").string());
  const JobData data = load_job_data(job, network);
  MetricChoice metrics{job.training.metrics, job.training.options};
  if (options.classes) metrics.more = {kConfusion};
  NetworkEvaluator evaluate(network, data, job.training.mini_batch_size, job.training.acceleration == "accelerated",
                            device, metrics);
  const NetworkScore score = evaluate(parameters.to(device), state.to(device));
  TestRunResult result{job.name, data.test.size(), score.loss, score.metrics, score.tables};
  if (options.classes) result.classes = tested_classes(job, network, score);
  return result;
}

}  // namespace retrace
