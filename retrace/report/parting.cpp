#include "retrace/report/parting.h"

#include <fstream>

#include "retrace/train/step_log.h"

namespace retrace {

Parting find_parting(const std::filesystem::path& a, const std::filesystem::path& b) {
  Parting parting;
  std::ifstream file_a(step_log_path(a)), file_b(step_log_path(b));
  for (std::string line_a, line_b; std::getline(file_a, line_a) && std::getline(file_b, line_b); ++parting.common) {
    if (file_a.eof() || file_b.eof()) break;  // torn, or still written
    if (line_a == line_b) continue;
    const auto step_a = parse_step(line_a), step_b = parse_step(line_b);
    if (!step_a || !step_b || step_a->iteration != step_b->iteration) break;
    parting.what = first_difference(*step_a, *step_b);
    if (parting.what.empty()) continue;  // fingerprints that one of them did not take
    parting.iteration = step_a->iteration;
    break;
  }
  return parting;
}

}  // namespace retrace
