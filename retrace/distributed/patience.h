#pragma once
// The time that a member waits for others. A member that computes is alive, however long it takes; one that does
// nothing, or does not even answer, is given up.

#include <algorithm>
#include <chrono>

namespace retrace {

// Processor time that all threads of this process have used so far.
double process_seconds();

// Tells whether a member that others wait for computes, by its processor time. One percent of a core is computing; a
// thread that sleeps or hangs, with what else a process does meanwhile, stays far below.
class SignsOfLife {
 public:
  // Notes the processor time that the member has used so far. Returns whether that is a sign of life; never the first
  // time.
  bool note(double processor_seconds);

 private:
  using Clock = std::chrono::steady_clock;
  double used_ = -1;
  Clock::time_point since_;
};

// The time that one waits without a sign of life, in steps: a step during which this process itself was stopped counts
// as a short one.
class Patience {
 public:
  explicit Patience(double seconds) : seconds_(seconds) {}
  // The time to wait before the next look.
  double step() const { return std::min(seconds_ / 10, 0.2); }
  // Whether a step has passed since the last look.
  bool is_time() const { return Clock::now() - looked_ >= std::chrono::duration<double>(step()); }
  // The time since the last look, as it counts; at the first one, that of a short wait.
  double look();
  // The time until the user is told.
  double silence() const { return std::min(seconds_ / 5, 10.0); }

 private:
  using Clock = std::chrono::steady_clock;
  const double seconds_;
  Clock::time_point looked_;  // no clock is read by those who need not wait
};

}  // namespace retrace
