#pragma once
// Who watches. A monitor receives events on the thread that trains and must be quick; it cannot change bits.

#include <vector>

#include "retrace/monitor/event.h"

namespace retrace {

// Who receives events.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void receive(const Event& event) = 0;
};

// Hands each event to several monitors, in order; they must outlive it. Without any it is the silent monitor.
class Monitors : public Monitor {
 public:
  Monitors();
  ~Monitors() override;
  explicit Monitors(std::vector<Monitor*> sinks);
  void add(Monitor& sink);
  void receive(const Event& event) override;

 private:
  std::vector<Monitor*> sinks_;
};

}  // namespace retrace
