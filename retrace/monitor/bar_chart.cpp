#include "retrace/monitor/charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/monitor/gnuplot.h"

namespace retrace {
namespace {

// Three digits that count.
std::string number(double value) { return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2); }

}  // namespace

std::string bar_text(const BarChart& chart, int width) {
  size_t longest = 0;
  double largest = 0;
  for (const auto& bar : chart.bars) {
    longest = std::max(longest, bar.name.size());
    largest = std::max(largest, bar.value);
  }
  std::string text = fmt::format("{} ({})\n", chart.title, chart.unit);
  for (const auto& bar : chart.bars) {
    const int blocks = largest > 0 ? static_cast<int>(bar.value / largest * width + 0.5) : 0;
    text += fmt::format("  {:<{}} {:>7} ", bar.name, longest, number(bar.value));
    for (int i = 0; i < blocks; ++i) text += "█";
    text += "\n";
  }
  return text;
}

std::string write_bar_charts(const std::string& png, const std::vector<BarChart>& charts) {
  std::string script = fmt::format("set terminal png size {},420\nset output {}\nset multiplot layout 1,{}\n",
                                   480 * charts.size(), gnuplot_string(png), charts.size());
  script += "set style fill solid 0.7\nset boxwidth 0.6\nset yrange [0:*]\nset grid ytics\nunset key\n";
  for (const auto& chart : charts) {
    script += fmt::format("set title {}\nset ylabel {}\n$bars << END\n", gnuplot_string(chart.title),
                          gnuplot_string(chart.unit));
    for (const auto& bar : chart.bars) script += fmt::format("\"{}\" {}\n", bar.name, bar.value);
    script += "END\nplot $bars using 0:2:xtic(1) with boxes linecolor rgb '#3465a4'\n";
  }
  return run_gnuplot(script + "unset multiplot\n");
}

}  // namespace retrace
