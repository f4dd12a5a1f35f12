#pragma once
// Pictures as SVG: lines, rectangles, texts and axes. A picture stands alone, in a file or within a page.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {

// A text within HTML or SVG, between tags or in an attribute: & < > " ' are escaped, control characters and broken
// UTF-8 become '?'.
std::string markup_text(std::string_view text);

// A number beside an axis: six digits that count.
std::string tick_text(double value);

// How values lie on an axis: `low` at the pixel `first`, `high` at `last`.
class Axis {
 public:
  // Of values from low to high, which are finite; with `log` both are above 0. Equal ones are moved apart.
  Axis(double low, double high, double first, double last, bool log = false);
  double at(double value) const;
  // Round numbers from low to high, about five; on a logarithmic axis powers of ten, with 2 and 5 between if they are
  // few.
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  double position(double value) const;  // the value, or its logarithm
  bool log_;
  double low_, high_, first_, last_;
  std::vector<double> ticks_;
};

// Of charts: space on the right and above, and the colour of lines at ticks.
inline constexpr double kChartRight = 16, kChartTop = 34;
inline constexpr const char* kGridColor = "#e5e7eb";

// Where a text stands at its point.
enum class TextAnchor { start, middle, end };

using SvgPoints = std::vector<std::pair<double, double>>;

class SvgPicture {
 public:
  SvgPicture(int width, int height);
  // Colours are texts of SVG ("#123456").
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width = 1);
  // Points that a line joins; `dashes` as in SVG ("6 4"), empty: none.
  void curve(const SvgPoints& points, std::string_view colour, double width, std::string_view dashes = "");
  void dot(double x, double y, double radius, std::string_view colour);
  // `name` is what a pointer that rests on it is told.
  void bar(double x, double y, double width, double height, std::string_view colour, std::string_view name);
  // Any text; `turned`: it reads upwards.
  void text(double x, double y, std::string_view text, TextAnchor anchor, int size = 12, bool turned = false);
  // What is drawn from now on lies so much lower.
  void move_down(double pixels);
  // The whole, "<svg ...>...</svg>" and a line end.
  std::string take();

 private:
  std::string text_;
  int groups_ = 0;
};

}  // namespace retrace
