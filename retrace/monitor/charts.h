#pragma once
// Bars with names, as text for a terminal and as a picture, and heights over a grid, as a picture.

#include <string>
#include <vector>

namespace retrace {

// One bar.
struct Bar {
  std::string name;
  double value = 0;  // 0 or more, as text and PNG
};

// Bars of one unit.
struct BarChart {
  std::string title, unit;
  std::vector<Bar> bars;
};

// One line a bar, the longest of `width` blocks:
//   training (s)
//     plain        41.2 ████████████████
//     accelerated  12.9 █████
std::string bar_text(const BarChart& chart, int width = 40);

// The charts side by side as a PNG file, drawn by gnuplot. "" when it was written; else what was in the way, in a line.
std::string write_bar_charts(const std::string& png, const std::vector<BarChart>& charts);

// One chart as an SVG picture: bars from zero upwards and, for values below zero, downwards, with their names below. A
// value that is not finite has no bar.
std::string bar_svg(const BarChart& chart);

// One surface.
struct SurfacePlot {
  std::string title;
  std::vector<double> x, y;     // at least two of each
  std::vector<double> heights;  // of (x[i], y[j]) at i * y.size() + j
};

// The surfaces side by side, with one scale of heights, as a PNG file drawn by gnuplot. "" when it was written; else
// what was in the way, in a line. Throws Error(usage) for a grid without squares or another number of heights.
std::string write_surface_plots(const std::string& png, const std::vector<SurfacePlot>& plots);

}  // namespace retrace
