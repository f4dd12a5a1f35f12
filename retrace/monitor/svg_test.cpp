// Pictures: texts, axes, curves and bars.
#include "retrace/monitor/svg.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "retrace/monitor/charts.h"
#include "retrace/monitor/line_chart.h"

namespace retrace {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The numbers of an attribute, in the order of the text: those of y=, of <rect> alone, ...
std::vector<double> numbers(const std::string& text, const std::string& before) {
  std::vector<double> found;
  for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1))
    found.push_back(std::strtod(text.c_str() + at + before.size(), nullptr));
  return found;
}

// The points of the n-th polyline.
SvgPoints points_of(const std::string& svg, size_t n = 0) {
  const std::string before = "<polyline points=\"";
  size_t at = svg.find(before);
  for (; n > 0; --n) at = svg.find(before, at + 1);
  const char* text = svg.c_str() + at + before.size();
  SvgPoints points;
  while (*text != '"') {
    char* end = nullptr;
    const double x = std::strtod(text, &end);
    points.emplace_back(x, std::strtod(end + 1, &end));
    text = end + 1;
  }
  return points;
}

TEST(Svg, TextsOfUsersAreEscaped) {
  EXPECT_EQ(markup_text("<a href=\"x\">Tom's & Jerry</a>"),
            "&lt;a href=&quot;x&quot;&gt;Tom&#39;s &amp; Jerry&lt;/a&gt;");
  EXPECT_EQ(markup_text("line\nbreak\x1b[31m \xff"), "line?break?[31m ?");
  EXPECT_EQ(markup_text("Größe 名前"), "Größe 名前");
  SvgPicture picture(10, 10);
  picture.text(1, 2, "</text><script>", TextAnchor::start);
  picture.bar(0, 0, 1, 1, "#000000", "\"><script>");
  EXPECT_EQ(count(picture.take(), "<script>"), 0u);
}

TEST(Svg, TicksAreRoundNumbers) {
  const auto ticks = [](double low, double high, bool log = false) { return Axis(low, high, 0, 100, log).ticks(); };
  using Numbers = std::vector<double>;
  EXPECT_EQ(ticks(0, 1), (Numbers{0, 0.2, 0.4, 0.6, 0.8, 1}));
  EXPECT_EQ(ticks(0.1, 0.35), (Numbers{0.1, 0.15, 0.2, 0.25, 0.3, 0.35}));
  EXPECT_EQ(ticks(-3, 7), (Numbers{-2, 0, 2, 4, 6}));
  EXPECT_EQ(ticks(0, 96000), (Numbers{0, 20000, 40000, 60000, 80000}));
  EXPECT_EQ(ticks(-2e-9, 2e-9), (Numbers{-2e-9, -1e-9, 0, 1e-9, 2e-9}));
  EXPECT_EQ(ticks(5, 5), (Numbers{3, 4, 5, 6, 7})) << "2.5 to 7.5";
  EXPECT_EQ(ticks(0.001f, 0.001f), (Numbers{0.0006, 0.0008, 0.001, 0.0012, 0.0014})) << "of a rate in f32";
  EXPECT_EQ(ticks(0.5f * 0.1f, 0.3), (Numbers{0.05, 0.1, 0.15, 0.2, 0.25, 0.3}));
  EXPECT_EQ(ticks(0.001, 10, true), (Numbers{0.001, 0.01, 0.1, 1, 10}));
  EXPECT_EQ(ticks(0.3, 4, true), (Numbers{0.5, 1, 2}));
  EXPECT_EQ(ticks(2.1, 2.95, true), (Numbers{2.2, 2.4, 2.6, 2.8})) << "no power of ten, nor 2 or 5 times one";
  EXPECT_EQ(tick_text(0.15), "0.15");
}

TEST(Svg, AxesAreLinearOrLogarithmic) {
  const Axis linear(-1, 3, 10, 410), logarithmic(0.01, 100, 400, 0, true);
  EXPECT_EQ(linear.at(-1), 10);
  EXPECT_EQ(linear.at(1), 210);
  EXPECT_EQ(linear.at(3), 410);
  EXPECT_NEAR(logarithmic.at(0.01), 400, 1e-9);
  EXPECT_NEAR(logarithmic.at(1), 200, 1e-9);
  EXPECT_NEAR(logarithmic.at(10), 100, 1e-9);
}

TEST(LineChart, GapsWhereNothingCanBeShown) {
  LineChart chart{"t", "x", {{"c", {{1, 1}, {2, 2}, {3, kNan}, {4, 0}, {5, 3}, {6, 4}}}}};
  std::string svg = line_svg(chart);
  EXPECT_EQ(count(svg, "<polyline"), 3u) << "two parts, and the line beside the name";
  EXPECT_EQ(points_of(svg).size(), 2u);
  EXPECT_EQ(points_of(svg, 1).size(), 3u);
  chart.log = true;
  svg = line_svg(chart);
  EXPECT_EQ(points_of(svg, 1).size(), 2u) << "0 has no logarithm";
  chart.curves[0].points = {{1, kNan}, {2, -1}};
  EXPECT_EQ(count(line_svg(chart), ">there is nothing to show</text>"), 1u);
  chart.curves[0].points = {{1, 5}};
  EXPECT_EQ(count(line_svg(chart), "<circle"), 1u) << "one point is a dot";
}

TEST(LineChart, ManyPointsKeepEveryMinimumAndMaximum) {
  Curve curve{"c", {}};
  for (int i = 0; i < 100'000; ++i) curve.points.emplace_back(i, i == 77'777 ? 9 : i == 33'333 ? -7 : i % 2);
  const std::string svg = line_svg({"t", "x", {curve}});
  const auto points = points_of(svg);
  EXPECT_LT(points.size(), 4u * 720);
  EXPECT_LT(svg.size(), 60'000u);
  const auto [high, low] = std::minmax_element(points.begin(), points.end(),
                                               [](const auto& a, const auto& b) { return a.second < b.second; });
  // -7 to 9 with a twentieth of room at each end, over the pixels from 34 to 258; x from 0 to 99,999 over 70 to 704.
  EXPECT_NEAR(high->second, 258 - (9 + 7.8) / 17.6 * 224, 0.06);
  EXPECT_NEAR(low->second, 258 - 0.8 / 17.6 * 224, 0.06);
  EXPECT_NEAR(high->first, 70 + 77'777 / 99'999.0 * 634, 0.06);
  EXPECT_NEAR(low->first, 70 + 33'333 / 99'999.0 * 634, 0.06);
  EXPECT_TRUE(
      std::is_sorted(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first < b.first; }));
}

TEST(LineChart, ChartsLieBelowEachOther) {
  const LineChart chart{"t", "x", {{"c", {{0, 1}, {1, 2}}}}};
  const std::string svg = stacked_svg({chart, chart, chart});
  EXPECT_EQ(count(svg, "height=\"900\""), 2u) << "the picture and its background";
  EXPECT_EQ(count(svg, "<g transform=\"translate(0 300.0)\">"), 2u) << "the third one within the second";
  EXPECT_EQ(count(svg, "<g "), count(svg, "</g>"));
}

TEST(BarSvg, BarsGoUpAndDownFromZero) {
  const std::string svg = bar_svg({"differences", "ulp", {{"a", 4}, {"<b>", -2}, {"none", kNan}, {"d", 0}}});
  EXPECT_EQ(count(svg, "<title>&lt;b&gt;: -2</title>"), 1u);
  EXPECT_EQ(count(svg, ">differences (ulp)</text>"), 1u);
  auto heights = numbers(svg, "height=\""), tops = numbers(svg, "\" y=\"");
  heights.erase(heights.begin(), heights.begin() + 2);  // of the picture and the background
  ASSERT_EQ(heights.size(), 4u);
  EXPECT_NEAR(heights[0], 240 * 4 / 6.0, 0.06);
  EXPECT_NEAR(heights[1], 240 * 2 / 6.0, 0.06);
  EXPECT_EQ(heights[2], 0);
  EXPECT_EQ(heights[3], 0);
  EXPECT_EQ(count(svg, "fill=\"#dc2626\""), 1u);
  // Many bars have their names upwards.
  BarChart many{"t", "", {}};
  for (int i = 0; i < 72; ++i) many.bars.push_back({fmt::format("stage_{}/weights", i), i % 2 ? 1.0 : -1.0});
  EXPECT_EQ(count(bar_svg(many), "rotate(-90"), 72u);
  EXPECT_EQ(count(bar_svg(many), "<title>"), 72u);
}

}  // namespace
}  // namespace retrace
