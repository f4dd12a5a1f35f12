#include "retrace/cli/run_result.h"

#include <cmath>

#include "retrace/base/json_value.h"
#include "retrace/train/metrics_log.h"
#include "retrace/train/run_folder.h"

namespace retrace::cli {
namespace {

void take_start(const JsonValue& event, TrainJobResult& result) {
  result.job = event.string_or("job", "");
  result.device = event.string_or("device", "");
  result.workers = static_cast<int>(event.integer_or("workers", 1));
  result.threads = static_cast<int>(event.integer_or("threads", 0));
}

MetricTable table_of(const JsonValue::List& rows) {
  MetricTable table;
  for (const auto& row : rows) {
    auto& values = table.emplace_back();
    if (const auto* cells = row.list())
      for (const auto& cell : *cells) values.push_back(cell.number().value_or(std::nan("")));
  }
  return table;
}

void take_end(const JsonValue& event, TrainJobResult& result) {
  result.epochs = static_cast<int>(event.integer_or("epoch", 0));
  result.iterations = event.integer_or("iteration", 0);
  result.seconds = event.number_or("seconds", 0);
  result.loss = event.number_or("validation_loss", std::nan(""));
  result.stop_reason = event.string_or("stop_reason", "");
  result.fingerprint = event.string_or("fingerprint", "");
  const auto* metrics = event.find("metrics");
  if (!metrics || !metrics->members()) return;
  for (const auto& [name, value] : *metrics->members())
    if (const auto* rows = value.list())
      result.tables.emplace_back(name, table_of(*rows));
    else
      result.metrics.emplace_back(name, value.number().value_or(std::nan("")));
}

// Of a run that keeps the best: the first validation with the loss of the result.
int64_t output_iteration(const std::vector<JsonValue>& events, const TrainJobResult& result) {
  for (const auto& event : events)
    if (event.string_or("event", "") == "validation" && event.number_or("validation_loss", std::nan("")) == result.loss)
      return event.integer_or("iteration", result.iterations);
  return result.iterations;
}

}  // namespace

TrainJobResult result_of_run(const std::filesystem::path& run) {
  TrainJobResult result;
  result.run_dir = run;
  std::vector<JsonValue> events;
  for (const auto& line : read_log_lines(run / "metrics.jsonl"))
    if (auto event = JsonValue::parse(line)) events.push_back(std::move(*event));
  for (const auto& event : events) {
    const std::string name = event.string_or("event", "");
    if (name == "started" || name == "resumed") take_start(event, result);
    if (name == "finished") take_end(event, result);
  }
  const bool best = read_run_job(run).training.output_network == "best-validation";
  result.output_iteration = best ? output_iteration(events, result) : result.iterations;
  return result;
}

}  // namespace retrace::cli
