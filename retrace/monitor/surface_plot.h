#pragma once
// Heights over a grid, as a picture.

#include <string>
#include <vector>

namespace retrace {

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
