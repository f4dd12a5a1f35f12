#pragma once
// Curves over a common axis, as a picture.

#include <string>
#include <utility>
#include <vector>

namespace retrace {

enum class CurveStyle { line, faint, dashed };

// Points in the order of x. One that is not finite, or on a logarithmic axis not above 0, is a gap.
struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
  CurveStyle style = CurveStyle::line;
  int colour = 0;  // a number of the palette
};

struct LineChart {
  std::string title, x_name;
  std::vector<Curve> curves;
  bool log = false;  // the axis of y
  int width = 720, height = 300;
};

// As SVG; the axis of x has 0. Of curves with more points than there are pixels, each pixel has the first, the least,
// the largest and the last of its points: no minimum or maximum is lost. A chart without a point says so.
std::string line_svg(const LineChart& chart);
// Charts one below the other.
std::string stacked_svg(const std::vector<LineChart>& charts);

}  // namespace retrace
