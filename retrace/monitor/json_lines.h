#pragma once
// Events as JSON, one object a line, for programs.

#include <functional>
#include <string>
#include <string_view>

#include "retrace/monitor/monitor.h"

namespace retrace {

// The version of what the lines below say: of their names and meanings. The event "started" has it as "schema".
constexpr int kEventSchema = 1;

// {"event":"step","epoch":1,...} without a line end. Numbers are the shortest text that reads back to the same
// bits; null stands for what JSON cannot say: NaN, infinities, a value that was not measured. Broken UTF-8 becomes '?'.
std::string event_json(const Event& event);

// Gives each event's line, with its '\n', to `write` (which may throw).
class JsonLines : public Monitor {
 public:
  explicit JsonLines(std::function<void(std::string_view line)> write) : write_(std::move(write)) {}
  void receive(const Event& event) override { write_(event_json(event) + "\n"); }

 private:
  std::function<void(std::string_view)> write_;
};

}  // namespace retrace
