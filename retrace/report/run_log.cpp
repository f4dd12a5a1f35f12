#include "retrace/report/run_log.h"

#include <limits>

#include "retrace/base/json_value.h"
#include "retrace/train/metrics_log.h"
#include "retrace/train/run_folder.h"

namespace retrace {
namespace {

double number_of(const JsonValue& value) { return value.number().value_or(std::numeric_limits<double>::quiet_NaN()); }

double number(const JsonValue& event, const char* name) {
  const auto* found = event.find(name);
  return number_of(found ? *found : JsonValue());
}

int64_t whole(const JsonValue& event, const char* name) {
  const auto* found = event.find(name);
  return found ? found->integer().value_or(0) : 0;
}

bool is_true(const JsonValue& event, const char* name, bool otherwise) {
  const auto* found = event.find(name);
  return found ? found->boolean().value_or(otherwise) : otherwise;
}

std::string text(const JsonValue& event, const char* name) {
  const auto* found = event.find(name);
  return found && found->string() ? *found->string() : "";
}

MetricTable table_of(const JsonValue::List& rows) {
  MetricTable table;
  for (const auto& row : rows) {
    table.emplace_back();
    if (!row.list()) continue;
    for (const auto& value : *row.list()) table.back().push_back(number_of(value));
  }
  return table;
}

void read_metrics(const JsonValue& event, MetricValues& metrics, MetricTables& tables) {
  const auto* found = event.find("metrics");
  if (!found || !found->members()) return;
  for (const auto& [name, value] : *found->members()) {
    if (value.list())
      tables.emplace_back(name, table_of(*value.list()));
    else
      metrics.emplace_back(name, number_of(value));
  }
}

RunStarted started_of(const JsonValue& event) {
  RunStarted made{.job = text(event, "job"), .device = text(event, "device"), .run_dir = text(event, "run_dir")};
  made.workers = static_cast<int>(whole(event, "workers"));
  made.threads = static_cast<int>(whole(event, "threads"));
  made.epochs = whole(event, "epochs");
  made.iterations_per_epoch = whole(event, "iterations_per_epoch");
  made.parameters = whole(event, "parameters");
  made.iteration = whole(event, "iteration");
  return made;
}

// A validation, and the end of a run, which has the same and more.
template <class Done>
Done measured(const JsonValue& event) {
  Done made{};
  made.epoch = static_cast<int>(whole(event, "epoch"));
  made.iteration = whole(event, "iteration");
  made.loss = number(event, "validation_loss");
  made.seconds = number(event, "seconds");
  read_metrics(event, made.metrics, made.tables);
  return made;
}

void read_event(const JsonValue& event, RunLog& log) {
  const std::string name = text(event, "event");
  if (name == "started" || name == "resumed") {
    log.started = started_of(event);
  } else if (name == "epoch") {
    log.epochs.push_back({static_cast<int>(whole(event, "epoch")), whole(event, "iteration"), number(event, "loss"),
                          number(event, "seconds"), is_true(event, "complete", true)});
  } else if (name == "validation") {
    log.validations.push_back(measured<ValidationDone>(event));
  } else if (name == "finished") {
    log.finished = measured<RunFinished>(event);
    log.finished->stop_reason = text(event, "stop_reason");
    log.finished->fingerprint = text(event, "fingerprint");
  } else {
    ++log.unread;
  }
}

}  // namespace

RunLog read_run_log(const std::filesystem::path& run) {
  check_run_folder(run);
  RunLog log;
  for (const auto& line : read_log_lines(run / "metrics.jsonl")) {
    read_event(JsonValue::parse(line).value_or(JsonValue()), log);
  }
  try {
    log.steps = read_step_log(run);
    for (auto& step : log.steps) step.tensors.clear();
  } catch (const Error&) {
    ++log.unread;
  }
  return log;
}

std::pair<int64_t, double> last_position(const RunLog& log) {
  std::pair<int64_t, double> last{0, 0};
  if (!log.epochs.empty()) last = {log.epochs.back().iteration, log.epochs.back().seconds};
  if (!log.validations.empty() && log.validations.back().iteration >= last.first)
    last = {log.validations.back().iteration, log.validations.back().seconds};
  if (log.finished) last = {log.finished->iteration, log.finished->seconds};
  return last;
}

}  // namespace retrace
