#pragma once
// Curves of a run as a picture.

#include <filesystem>
#include <string>
#include <vector>

namespace retrace {

// The charts of these names, one below the other, as one SVG: those of run_chart(), with a logarithmic scale if `log`.
// Errors: as run_chart() and read_run_log().
std::string plot_svg(const std::filesystem::path& run, const std::vector<std::string>& names, bool log = false);

}  // namespace retrace
