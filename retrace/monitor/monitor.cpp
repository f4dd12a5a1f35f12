#include "retrace/monitor/monitor.h"

#include <utility>

namespace retrace {

Monitors::Monitors() = default;
Monitors::~Monitors() = default;
Monitors::Monitors(std::vector<Monitor*> sinks) : sinks_(std::move(sinks)) {}
void Monitors::add(Monitor& sink) { sinks_.push_back(&sink); }

void Monitors::receive(const Event& event) {
  for (auto* sink : sinks_) sink->receive(event);
}

}  // namespace retrace
