#pragma once
// The modes in jobs and runs.

#include <string>

namespace retrace {

// training.mode
inline constexpr const char *kReproducible = "reproducible", *kFast = "fast", *kFastBf16 = "fast_bf16";

// Whether bits are those of the run alone, so that others are no fault.
inline bool is_fast_mode(const std::string& mode) { return mode != kReproducible; }
// What stands beside the fingerprints of such a run: "mode fast".
inline std::string mode_mark(const std::string& mode) { return "mode " + mode; }

}  // namespace retrace
