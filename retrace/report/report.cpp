#include "retrace/report/report.h"

#include <fmt/format.h>

#include <cmath>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/base/json_value.h"
#include "retrace/monitor/terminal.h"
#include "retrace/report/page.h"
#include "retrace/report/run_charts.h"
#include "retrace/report/samples.h"
#include "retrace/train/class_names.h"
#include "retrace/train/mode_names.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/test_run.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr int kChartWidth = 530;

std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

// A fingerprint, with the mode if it proves nothing.
std::string marked(const std::string& fingerprint, const std::string& mode) {
  return is_fast_mode(mode) ? fmt::format("{} ({})", fingerprint, mode_mark(mode)) : fingerprint;
}

std::string status_text(const RunLog& log) {
  if (log.finished) return log.finished->stop_reason;
  return fmt::format("goes on, or was broken off: the last event is of iteration {}", last_position(log).first);
}

std::string summary_html(const RunLog& log) {
  Pairs rows{{"status", status_text(log)}};
  if (log.started) {
    rows.emplace_back("device", log.started->device);
    rows.emplace_back("workers", fmt::format("{} with {} threads", log.started->workers, log.started->threads));
    rows.emplace_back("learnables", fmt::format("{}", log.started->parameters));
  }
  const auto [iteration, seconds] = last_position(log);
  rows.emplace_back("epochs", fmt::format("{} of {}", log.epochs.empty() ? 0 : log.epochs.back().epoch,
                                          log.started ? log.started->epochs : 0));
  rows.emplace_back("iterations", fmt::format("{}", iteration));
  rows.emplace_back("time", duration_text(seconds));
  if (!log.epochs.empty()) rows.emplace_back("loss of the last epoch", number_text(log.epochs.back().loss));
  const auto measured = [&](const auto& done) {
    rows.emplace_back("validation loss", number_text(done.loss));
    for (const auto& [name, value] : done.metrics) rows.emplace_back(name, number_text(value));
  };
  if (log.finished)
    measured(*log.finished);
  else if (!log.validations.empty())
    measured(log.validations.back());
  if (log.finished) rows.emplace_back("fingerprint", marked(log.finished->fingerprint, log.finished->mode));
  if (log.unread > 0) rows.emplace_back("metrics.jsonl", fmt::format("{} lines could not be read", log.unread));
  return section_html("Result", pairs_html(rows));
}

std::string curves_html(const RunLog& log, const fs::path& run) {
  std::string html;
  for (const auto& name : chart_names(log)) {
    LineChart chart = run_chart(log, run, name);
    chart.width = kChartWidth;
    const std::string plain = line_svg(chart);
    chart.log = true;
    html +=
        name == "loss" ? switch_html("log", "logarithmic scale", plain, line_svg(chart)) : "<div>" + plain + "</div>\n";
  }
  return section_html("Curves", "<div class=\"charts\">\n" + html + "</div>\n");
}

std::string classes_html(const TestedClasses& tested, const MetricTable& counts) {
  std::vector<std::vector<std::string>> rows{{tested.output, "samples", "predicted", "precision", "recall", "F-score"}};
  for (size_t c = 0; c < tested.measures.size(); ++c) {
    const ClassMeasures& one = tested.measures[c];
    rows.push_back({tested.names[c], fmt::format("{}", one.samples), fmt::format("{}", one.predicted),
                    number_text(one.precision), number_text(one.recall), number_text(one.f_score)});
  }
  return confusion_html(counts, tested.names) + details_html("measures of every class", table_html(rows));
}

// Of the weights in the folder.
std::string measured_classes_html(const fs::path& run) {
  const TestRunResult result = test_run(run, {.classes = true});
  std::string html;
  for (const auto& tested : result.classes)
    for (const auto& [name, counts] : result.tables)
      if (name == tested.table) html += classes_html(tested, counts);
  if (html.empty()) return "";
  return paragraph_html(
             "Measured when this page was made, with weights.safetensors on the test set. Rows: the class; "
             "columns: what was predicted.") +
         html;
}

// Of the last validation that has one.
std::string stored_classes_html(const RunLog& log, const fs::path& run) {
  const MetricTables* tables = nullptr;
  for (const auto& one : log.validations)
    if (!one.tables.empty()) tables = &one.tables;
  if (log.finished && !log.finished->tables.empty()) tables = &log.finished->tables;
  if (!tables) return "";
  const ClassNames known = read_class_names(run);
  std::string html = paragraph_html("Measured by the last validation. Rows: the class; columns: what was predicted.");
  for (const auto& [name, counts] : *tables) {
    std::vector<std::string> names;
    for (size_t c = 0; c < counts.size(); ++c) names.push_back(class_name(known, static_cast<int64_t>(c)));
    html += confusion_html(counts, names);
  }
  return html;
}

// What f() makes; else why there is none.
template <class F>
std::string attempted(const F& f, std::string& why) {
  try {
    return f();
  } catch (const Error& error) {
    why += paragraph_html(std::string("Not measured: ") + error.message());
    return "";
  }
}

std::string confusion_section(const RunLog& log, const fs::path& run, bool measure) {
  std::string why;
  std::string html = measure ? attempted([&] { return measured_classes_html(run); }, why) : "";
  if (html.empty()) html = stored_classes_html(log, run);
  if (html.empty() && why.empty()) return "";
  return section_html("Confusion matrix", html + why);
}

std::string samples_section(const fs::path& run, bool measure) {
  if (!measure) return "";
  std::string why;
  const std::string html = attempted([&] { return samples_html(run); }, why);
  return section_html("Samples of the test set", html + why);
}

std::string value_text(const JsonValue& value) {
  if (const auto* text = value.string()) return *text;
  if (value.is_primitive()) return value.text();
  std::vector<std::string> parts;
  if (const auto* values = value.list())
    for (const auto& part : *values) parts.push_back(value_text(part));
  else
    for (const auto& [name, part] : *value.members()) parts.push_back(name + " " + value_text(part));
  return joined(parts, ", ");
}

std::string environment_html(const fs::path& run) {
  const auto versions = JsonValue::parse(read_file(run / "versions.json", "versions file", 100'000));
  Pairs rows;
  if (versions && versions->is_object())
    for (const auto& [name, value] : *versions->members()) rows.emplace_back(name, value_text(value));
  return section_html("What it ran on", pairs_html(rows));
}

std::string job_html(const fs::path& run) {
  std::error_code ignored;
  const fs::path file = run / (fs::exists(run / "job.toml", ignored) ? "job.toml" : "training.toml");
  return section_html(file.filename().string(), pre_html(read_file(file, "job file", 1'000'000)));
}

std::string fingerprints_html(const fs::path& run) {
  std::error_code ignored;
  if (!fs::exists(run / "fingerprints.txt", ignored)) return "";
  const auto epochs = read_fingerprints(run);
  if (epochs.empty()) return "";
  std::string all, last;
  for (const auto& epoch : epochs) all += fmt::format("{:>6} {}\n", epoch.epoch, fingerprint_text(epoch.all));
  for (const auto& [name, value] : epochs.back().tensors) last += fmt::format("{} {}\n", fingerprint_text(value), name);
  const std::string text = marked(fingerprint_text(epochs.back().all), epochs.back().mode);
  return section_html("Fingerprints", paragraph_html("After the last epoch: " + text) +
                                          details_html("of every epoch", pre_html(all)) +
                                          details_html("of every tensor after the last epoch", pre_html(last)));
}

}  // namespace

std::string report_html(const fs::path& run, const ReportOptions& options) {
  const RunLog log = read_run_log(run);
  const std::string name = log.started ? log.started->job : "run";
  return page_html(fmt::format("{}: {}", name, run.string()),
                   summary_html(log) + curves_html(log, run) + confusion_section(log, run, options.measure) +
                       samples_section(run, options.measure) + environment_html(run) + job_html(run) +
                       fingerprints_html(run));
}

fs::path write_report(const fs::path& run, const fs::path& out, const ReportOptions& options) {
  check_run_folder(run);
  const fs::path path = out.empty() ? run / "report.html" : out;
  std::error_code ignored;
  const bool own = path.filename() == "report.html" &&
                   fs::equivalent(run, path.parent_path().empty() ? "." : path.parent_path(), ignored);
  if (!own) check_run_output(path, run / "metrics.jsonl");
  write_file_whole(path, report_html(run, options));
  return path;
}

}  // namespace retrace
