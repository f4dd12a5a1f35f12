#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/cli/metric_text.h"
#include "retrace/cli/output.h"
#include "retrace/cli/settings.h"
#include "retrace/monitor/json_metrics.h"
#include "retrace/train/run_storage.h"
#include "retrace/train/test_run.h"

namespace retrace::cli {
namespace {

struct TestOptions {
  std::filesystem::path run, data;
  JobSettings settings;
  bool classes = false, json = false, quiet = false;
};

std::string classes_text(const TestedClasses& tested) {
  std::vector<std::vector<std::string>> rows{{tested.output, "samples", "predicted", "precision", "recall", "f_score"}};
  for (size_t c = 0; c < tested.measures.size(); ++c) {
    const ClassMeasures& one = tested.measures[c];
    rows.push_back({printable(tested.names[c]), fmt::format("{}", one.samples), fmt::format("{}", one.predicted),
                    number_text(one.precision), number_text(one.recall), number_text(one.f_score)});
  }
  return columns_text(rows);
}

// The names of the rows of a table, where they are known.
std::vector<std::string> names_of_rows(const TestRunResult& result, const std::string& table) {
  std::vector<std::string> names;
  for (const auto& tested : result.classes)
    if (tested.table == table)
      for (const auto& name : tested.names) names.push_back(printable(name));
  return names;
}

// The loss of a program's run may be in no file.
std::string measured_text(const TestRunResult& result) {
  const std::string text = metrics_text(result.loss, result.metrics);
  if (result.loss_known) return text;
  if (result.metrics.empty()) return "no loss, which is a function of the program (--set training.metrics=...)";
  return text.substr(text.find(", ") + 2);
}

std::string result_text_test(const TestRunResult& result) {
  std::string text = fmt::format("test set: {} samples, {}\n", result.samples, measured_text(result));
  for (const auto& tested : result.classes) text += classes_text(tested);
  for (const auto& [name, table] : result.tables) text += table_text(name, table, names_of_rows(result, name));
  return text;
}

Json json_of_test(const TestedClasses& tested) {
  std::vector<Json> classes;
  for (size_t c = 0; c < tested.measures.size(); ++c) {
    const ClassMeasures& one = tested.measures[c];
    classes.push_back(Json::object({{"class", c},
                                    {"name", tested.names[c]},
                                    {"samples", one.samples},
                                    {"predicted", one.predicted},
                                    {"precision", one.precision},
                                    {"recall", one.recall},
                                    {"f_score", one.f_score}}));
  }
  return Json::list(classes);
}

Json json_of_test(const TestRunResult& result, const std::filesystem::path& run) {
  std::vector<Json::Member> members{{"job", result.job},
                                    {"run_dir", run.string()},
                                    {"samples", result.samples},
                                    {"validation_loss", result.loss},
                                    {"metrics", json_metrics(result.metrics, result.tables)}};
  if (result.classes.empty()) return Json::object(members);
  std::vector<Json::Member> classes;
  for (const auto& tested : result.classes) classes.emplace_back(tested.output, json_of_test(tested));
  members.emplace_back("classes", Json::object(classes));
  return Json::object(members);
}

int test(const TestOptions& options) {
  auto overrides = overrides_of(options.settings);
  if (!options.data.empty()) overrides.push_back({"data.path", options.data.string(), "--data"});
  const auto result = test_run(options.run, {.overrides = overrides, .classes = options.classes});
  if (options.json)
    print(json_of_test(result, options.run).text() + "\n");
  else if (!options.quiet)
    print(result_text_test(result));
  return 0;
}

void describe_test(Flags& flags) {
  const auto options = std::make_shared<TestOptions>();
  flags.argument("RUN", options->run, "run folder", "the run folder");
  flags.option("--data", "DIR", options->data, "folder of other data of the same source: short for data.path");
  flags.repeated("--set", "KEY=VALUE", options->settings.settings,
                 "replaces a key of [data], or training.metrics; may be repeated");
  flags.option("--threads", "N", options->settings.threads, "number of threads; changes no bit of the result");
  flags.option("--device", "NAME", options->settings.device, "cpu, cuda (or gpu), cuda:N, auto");
  flags.flag("--classes", options->classes,
             "also precision, recall and F-score of every class, and the confusion matrix");
  flags.flag("--json", options->json, "print the result as one JSON object");
  flags.flag("--quiet", options->quiet, "print nothing but errors and warnings, and the object of --json");
  flags.action([options] {
    options->run = run_on_disk(options->run);
    return test(*options);
  });
}

}  // namespace

CommandKind test_command() {
  return {.name = "test", .help = "loss and metrics of a trained run on its test set", .describe = describe_test};
}

}  // namespace retrace::cli
