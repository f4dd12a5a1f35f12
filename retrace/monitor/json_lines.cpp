#include "retrace/monitor/json_lines.h"

#include <fmt/format.h>

#include <cmath>

#include "retrace/base/file.h"

namespace retrace {
namespace {

std::string json_of(const RunStarted& e) {
  return fmt::format(
      "{{\"event\":\"{}\",{}\"schema\":{},\"job\":{},\"device\":{},\"workers\":{},\"threads\":{},\"epochs\":{},"
      "\"iterations_per_"
      "epoch\":{},"
      "\"parameters\":{},\"run_dir\":{}}}",
      e.iteration == 0 ? "started" : "resumed", e.iteration == 0 ? "" : fmt::format("\"iteration\":{},", e.iteration),
      kEventSchema, json_text(e.job), json_text(e.device), e.workers, e.threads, e.epochs, e.iterations_per_epoch,
      e.parameters, json_text(e.run_dir));
}

std::string json_of(const StepDone& e) {
  return fmt::format(
      "{{\"event\":\"step\",\"epoch\":{},\"iteration\":{},\"loss\":{},\"learn_rate\":{},\"seconds\":{}}}", e.epoch,
      e.iteration, json_number(e.loss), json_number(e.learn_rate), json_number(e.seconds));
}

std::string json_of(const EpochDone& e) {
  return fmt::format("{{\"event\":\"epoch\",\"epoch\":{},\"iteration\":{},\"loss\":{},\"complete\":{},\"seconds\":{}}}",
                     e.epoch, e.iteration, json_number(e.loss), e.complete, json_number(e.seconds));
}

std::string json_of(const ValidationDone& e) {
  return fmt::format(
      "{{\"event\":\"validation\",\"epoch\":{},\"iteration\":{},\"validation_loss\":{},\"metrics\":{},\"seconds\":{}}}",
      e.epoch, e.iteration, json_number(e.loss), json_metrics(e.metrics), json_number(e.seconds));
}

std::string json_of(const RunFinished& e) {
  return fmt::format(
      "{{\"event\":\"finished\",\"epoch\":{},\"iteration\":{},\"validation_loss\":{},\"metrics\":{},\"seconds\":{},"
      "\"stop_reason\":{},\"fingerprint\":{}}}",
      e.epoch, e.iteration, json_number(e.loss), json_metrics(e.metrics), json_number(e.seconds),
      json_text(e.stop_reason), json_text(e.fingerprint));
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string escaped, out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      escaped += '\\', escaped += c;
    else if (byte < 0x20)
      escaped += fmt::format("\\u{:04x}", byte);
    else
      escaped += c;
  }
  return out + printable(escaped) + "\"";
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  return fmt::format("{}", value);
}

std::string json_metrics(const MetricValues& metrics) {
  std::string out;
  for (const auto& [name, value] : metrics)
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", json_text(name), json_number(value));
  return "{" + out + "}";
}

std::string event_json(const Event& event) {
  return std::visit([](const auto& record) { return json_of(record); }, event);
}

}  // namespace retrace
