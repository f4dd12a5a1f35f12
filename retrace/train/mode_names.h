#pragma once
// The modes in jobs and runs.

namespace retrace {

inline constexpr const char *kReproducible = "reproducible", *kFast = "fast";  // training.mode
// Stands beside the fingerprints of a run of the mode fast.
inline constexpr const char* kFastMark = "mode fast";

}  // namespace retrace
