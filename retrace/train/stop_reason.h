#pragma once
// Why a training ends before its last epoch is complete, as results, events and metrics files say it.

#include <string>

namespace retrace {

// Of a loss that is not finite: what is found, and what helps; texts without an end mark.
struct LossCause {
  std::string found, help;
};

inline constexpr const char* kStopped = "stopped";  // by its user, or by its output function
inline constexpr const char* kMaxIterations = "max iterations completed";
inline constexpr const char* kNotFinite = "the loss is not finite";
inline constexpr const char* kNothingBetter = "met validation criterion";
// Of solvers that look at all data in each step.
inline constexpr const char* kGradientTolerance = "met gradient tolerance";
inline constexpr const char* kStepTolerance = "met step tolerance";
inline constexpr const char* kNothingBelow = "no step makes the loss smaller";
inline constexpr const char* kMaxDamping = "the damping is at its maximum";

}  // namespace retrace
