#include "retrace/report/run_log.h"

#include <limits>

#include "retrace/base/json_value.h"
#include "retrace/train/metrics_log.h"
#include "retrace/train/mode_names.h"
#include "retrace/train/run_folder.h"

namespace retrace {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double number_of(const JsonValue& value) { return value.number().value_or(kNaN); }

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
  RunStarted made{.job = event.string_or("job", ""),
                  .device = event.string_or("device", ""),
                  .run_dir = event.string_or("run_dir", "")};
  made.workers = static_cast<int>(event.integer_or("workers", 0));
  made.threads = static_cast<int>(event.integer_or("threads", 0));
  made.epochs = event.integer_or("epochs", 0);
  made.iterations_per_epoch = event.integer_or("iterations_per_epoch", 0);
  made.parameters = event.integer_or("parameters", 0);
  made.iteration = event.integer_or("iteration", 0);
  made.mode = event.string_or("mode", kReproducible);
  return made;
}

// A validation, and the end of a run, which has the same and more.
template <class Done>
Done measured(const JsonValue& event) {
  Done made{};
  made.epoch = static_cast<int>(event.integer_or("epoch", 0));
  made.iteration = event.integer_or("iteration", 0);
  made.loss = event.number_or("validation_loss", kNaN);
  made.seconds = event.number_or("seconds", kNaN);
  read_metrics(event, made.metrics, made.tables);
  return made;
}

void read_event(const JsonValue& event, RunLog& log) {
  const std::string name = event.string_or("event", "");
  if (name == "started" || name == "resumed") {
    log.started = started_of(event);
  } else if (name == "epoch") {
    log.epochs.push_back({static_cast<int>(event.integer_or("epoch", 0)), event.integer_or("iteration", 0),
                          event.number_or("loss", kNaN), event.number_or("seconds", kNaN),
                          event.boolean_or("complete", true)});
  } else if (name == "validation") {
    log.validations.push_back(measured<ValidationDone>(event));
  } else if (name == "finished") {
    log.finished = measured<RunFinished>(event);
    log.finished->stop_reason = event.string_or("stop_reason", "");
    log.finished->fingerprint = event.string_or("fingerprint", "");
    log.finished->mode = event.string_or("mode", kReproducible);
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
