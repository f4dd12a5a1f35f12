#pragma once
// What planning depends on beside the trace.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/device/cpu/thread_count.h"
#include "retrace/plan/tuning.h"

namespace retrace {

// Done while a plan is laid out, and switched like a pass: values share memory, results may take that of arguments.
inline constexpr std::string_view kPlaceMemory = "place_memory";

struct PlanOptions {
  std::vector<std::string> passes_off = {};  // names of passes that are left out
  size_t memory_limit = 0;                   // bytes that the arena may have; 0: no limit
  // Of the memory that the intermediates would take at the peak: values are computed again until this share is enough,
  // or nothing helps any more. make_plan() lowers it under a memory limit.
  double memory_share = 1;
  int threads = 1;                 // that will run the plan
  Mode mode = Mode::reproducible;  // for which a device may have kernels of its own
  Tuning tuning = {};

  bool is_on(std::string_view pass) const {
    return std::find(passes_off.begin(), passes_off.end(), pass) == passes_off.end();
  }
  bool operator==(const PlanOptions&) const = default;
};

}  // namespace retrace
