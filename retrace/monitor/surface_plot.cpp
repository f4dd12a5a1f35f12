#include "retrace/monitor/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/monitor/gnuplot.h"

namespace retrace {
namespace {

void check(const SurfacePlot& plot) {
  if (plot.x.size() < 2 || plot.y.size() < 2 || plot.heights.size() != plot.x.size() * plot.y.size())
    throw Error(ErrorKind::usage, 530,
                fmt::format("surface plot \"{}\": {} heights over {} by {} points", printable(plot.title),
                            plot.heights.size(), plot.x.size(), plot.y.size()))
        .expected("a height for each point, and 2 points or more along x and y");
}

// One scale for the heights and their colours; infinities and NaN are left out.
std::string range(const std::vector<SurfacePlot>& plots) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto& plot : plots)
    for (const double height : plot.heights)
      if (std::isfinite(height)) low = std::min(low, height), high = std::max(high, height);
  return low < high ? fmt::format("set zrange [{0}:{1}]\nset cbrange [{0}:{1}]\n", low, high) : "";
}

// A blank line after each row of points, as gnuplot wants its grids.
std::string grid(const SurfacePlot& plot) {
  std::string text = "$surface << END\n";
  for (size_t i = 0; i < plot.x.size(); ++i, text += "\n")
    for (size_t j = 0; j < plot.y.size(); ++j)
      text += fmt::format("{} {} {}\n", plot.x[i], plot.y[j], plot.heights[i * plot.y.size() + j]);
  return text + "END\n";
}

}  // namespace

std::string write_surface_plots(const std::string& png, const std::vector<SurfacePlot>& plots) {
  std::string script = fmt::format("set terminal png size {},480\nset output {}\nset multiplot layout 1,{}\n",
                                   560 * plots.size(), gnuplot_string(png), plots.size());
  script += "set xlabel 'x'\nset ylabel 'y'\nset xyplane 0\nset view 60,320\nset grid\nunset key\n";
  script += "set pm3d depthorder border linecolor rgb '#555555' linewidth 0.5\nset palette rgbformulae 33,13,10\n";
  script += range(plots);
  for (const auto& plot : plots) {
    check(plot);
    script += fmt::format("set title {}\n{}splot $surface with pm3d\n", gnuplot_string(plot.title), grid(plot));
  }
  return run_gnuplot(script + "unset multiplot\n");
}

}  // namespace retrace
