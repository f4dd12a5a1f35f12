#pragma once
// Who watches. A monitor receives events on the thread that trains and must be quick; it cannot change bits.

#include <vector>

#include "retrace/monitor/event.h"

namespace retrace {

class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void receive(const Event& event) = 0;
};

// Hands each event to several monitors, in order; they must outlive it. Without any it is the silent monitor.
class Monitors : public Monitor {
 public:
  Monitors() = default;
  explicit Monitors(std::vector<Monitor*> sinks) : sinks_(std::move(sinks)) {}
  void add(Monitor& sink) { sinks_.push_back(&sink); }
  void receive(const Event& event) override {
    for (auto* sink : sinks_) sink->receive(event);
  }

 private:
  std::vector<Monitor*> sinks_;
};

}  // namespace retrace
