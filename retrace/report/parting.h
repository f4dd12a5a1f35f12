#pragma once
// Where two runs part.

#include <cstdint>
#include <filesystem>
#include <string>

namespace retrace {

struct Parting {
  int64_t common = 0;     // steps that are in both step logs
  int64_t iteration = 0;  // of the first step that differs; 0: none does
  std::string what;       // first_difference() in retrace/train/step_log.h
};

// The step logs of two runs from their beginnings, line by line: 100,000 steps take some 20 ms. A log that is damaged
// or absent ends there.
Parting find_parting(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace retrace
