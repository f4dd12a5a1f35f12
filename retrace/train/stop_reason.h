#pragma once
// Why a training ends before its last epoch is complete, as results, events and metrics files say it.

namespace retrace {

inline constexpr const char* kStopped = "stopped";  // by its user, or by its output function
inline constexpr const char* kMaxIterations = "max iterations completed";
inline constexpr const char* kNotFinite = "the loss is not finite";
inline constexpr const char* kNothingBetter = "met validation criterion";

}  // namespace retrace
