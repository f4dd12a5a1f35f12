#include "retrace/experiment/pruner_kind.h"

#include <algorithm>

namespace retrace {

std::optional<double> best_until(const std::vector<TrialReport>& reports, int64_t step) {
  std::optional<double> best;
  bool reached = false;
  for (const auto& report : reports) {
    if (report.step >= step) reached = true;
    if (report.step <= step && report.value == report.value) best = best ? std::min(*best, report.value) : report.value;
  }
  return reached ? best : std::nullopt;
}

}  // namespace retrace
