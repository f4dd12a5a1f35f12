#include "retrace/report/plot.h"

#include "retrace/report/run_charts.h"

namespace retrace {

std::string plot_svg(const std::filesystem::path& run, const std::vector<std::string>& names, bool log) {
  const RunLog read = read_run_log(run);
  std::vector<LineChart> charts;
  for (const auto& name : names) {
    charts.push_back(run_chart(read, run, name));
    charts.back().log = log;
  }
  return stacked_svg(charts);
}

}  // namespace retrace
