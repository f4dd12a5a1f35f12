#include "retrace/monitor/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "retrace/monitor/svg.h"

namespace retrace {
namespace {

constexpr const char* kPalette[] = {"#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2"};
constexpr double kLinesLeft = 70, kBottom = 42;
constexpr const char* kFrame = "#9ca3af";

struct Extent {
  double low = 0, high = 0;
  bool empty = true;
  void add(double value) {
    low = empty ? value : std::min(low, value), high = empty ? value : std::max(high, value);
    empty = false;
  }
};

bool is_shown(const std::pair<double, double>& point, bool log) {
  return std::isfinite(point.first) && std::isfinite(point.second) && (!log || point.second > 0);
}

// Points that fall on one column of pixels.
struct Column {
  double pixel = -1;
  SvgPoints points;  // in their order

  // The first, the least, the largest and the last one.
  void move_to(SvgPoints& kept) {
    if (points.empty()) return;
    const auto by_y = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [low, high] = std::minmax_element(points.begin(), points.end(), by_y);
    std::vector<SvgPoints::iterator> wanted{points.begin(), low, high, points.end() - 1};
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    for (const auto& one : wanted) kept.push_back(*one);
    points.clear();
  }
};

void draw_part(SvgPicture& picture, const SvgPoints& points, const Curve& curve) {
  const char* const colour = kPalette[static_cast<size_t>(curve.colour) % std::size(kPalette)];
  const bool faint = curve.style == CurveStyle::faint;
  if (points.size() == 1) picture.dot(points[0].first, points[0].second, 3, colour);
  if (points.size() > 1)
    picture.curve(points, faint ? "#93c5fd" : colour, faint ? 1 : 2, curve.style == CurveStyle::dashed ? "6 4" : "");
}

void draw_curve(SvgPicture& picture, const Curve& curve, const Axis& x, const Axis& y, bool log) {
  SvgPoints part;
  Column column;
  const auto end_part = [&] {
    column.move_to(part);
    draw_part(picture, part, curve);
    part.clear();
  };
  for (const auto& point : curve.points) {
    if (!is_shown(point, log)) {
      end_part();
      continue;
    }
    const double at = x.at(point.first), pixel = static_cast<double>(static_cast<int64_t>(at));
    if (pixel != column.pixel) column.move_to(part);
    column.pixel = pixel;
    column.points.emplace_back(at, y.at(point.second));
  }
  end_part();
  const bool few = curve.style == CurveStyle::dashed && curve.points.size() <= 60;
  const char* const colour = kPalette[static_cast<size_t>(curve.colour) % std::size(kPalette)];
  for (const auto& point : curve.points)
    if (few && is_shown(point, log)) picture.dot(x.at(point.first), y.at(point.second), 2.5, colour);
}

void draw_axes(SvgPicture& picture, const LineChart& chart, const Axis& x, const Axis& y) {
  const double right = chart.width - kChartRight, bottom = chart.height - kBottom;
  for (const double tick : y.ticks()) {
    picture.line(kLinesLeft, y.at(tick), right, y.at(tick), kGridColor);
    picture.text(kLinesLeft - 8, y.at(tick) + 4, tick_text(tick), TextAnchor::end);
  }
  for (const double tick : x.ticks()) {
    picture.line(x.at(tick), bottom, x.at(tick), bottom + 4, kFrame);
    picture.text(x.at(tick), bottom + 18, tick_text(tick), TextAnchor::middle);
  }
  picture.line(kLinesLeft, bottom, right, bottom, kFrame);
  picture.line(kLinesLeft, kChartTop, kLinesLeft, bottom, kFrame);
  picture.text((kLinesLeft + right) / 2, chart.height - 6, chart.x_name, TextAnchor::middle);
}

// The names of the curves, from the right.
void draw_names(SvgPicture& picture, const LineChart& chart) {
  double right = chart.width - kChartRight;
  for (auto curve = chart.curves.rbegin(); curve != chart.curves.rend(); ++curve) {
    const double width = 7.0 * static_cast<double>(curve->name.size()) + 36;
    draw_part(picture, {{right - width + 4, 17}, {right - width + 28, 17}}, *curve);
    picture.text(right - width + 32, 21, curve->name, TextAnchor::start);
    right -= width + 6;
  }
}

void draw_chart(SvgPicture& picture, const LineChart& chart) {
  picture.text(kLinesLeft, 21, chart.title, TextAnchor::start, 14);
  Extent x, y;
  for (const auto& curve : chart.curves)
    for (const auto& point : curve.points)
      if (is_shown(point, chart.log)) x.add(point.first), y.add(point.second);
  if (y.empty)
    return picture.text(chart.width / 2.0, chart.height / 2.0, "there is nothing to show", TextAnchor::middle);
  x.add(0);
  // So that no curve lies on the frame; what is never negative begins at 0 or above.
  const double room = chart.log ? 0 : (y.high - y.low) / 20;
  const double low = y.low >= 0 && y.low < room ? 0 : y.low - room;
  const Axis xs(x.low, x.high, kLinesLeft, chart.width - kChartRight);
  const Axis ys(low, y.high + room, chart.height - kBottom, kChartTop, chart.log);
  draw_axes(picture, chart, xs, ys);
  for (const auto& curve : chart.curves) draw_curve(picture, curve, xs, ys, chart.log);
  draw_names(picture, chart);
}

}  // namespace

std::string line_svg(const LineChart& chart) { return stacked_svg({chart}); }

std::string stacked_svg(const std::vector<LineChart>& charts) {
  int width = 0, height = 0;
  for (const auto& chart : charts) width = std::max(width, chart.width), height += chart.height;
  SvgPicture picture(width, height);
  for (size_t i = 0; i < charts.size(); ++i) {
    if (i > 0) picture.move_down(charts[i - 1].height);
    draw_chart(picture, charts[i]);
  }
  return picture.take();
}

}  // namespace retrace
