#include <algorithm>
#include <cmath>

#include "retrace/monitor/charts.h"
#include "retrace/monitor/svg.h"

namespace retrace {
namespace {

constexpr double kBarsLeft = 80, kPlot = 240;
constexpr const char *kUp = "#2563eb", *kDown = "#dc2626", *kZero = "#6b7280";

// Names that do not fit side by side read upwards.
struct NameLayout {
  bool turned = false;
  double space = 24;  // below the bars
};

NameLayout layout_of(const BarChart& chart, double step) {
  size_t longest = 0;
  for (const auto& bar : chart.bars) longest = std::max(longest, bar.name.size());
  const double width = 7.0 * static_cast<double>(longest);
  return width + 6 > step ? NameLayout{true, width + 16} : NameLayout{};
}

}  // namespace

std::string bar_svg(const BarChart& chart) {
  const auto count = static_cast<double>(std::max<size_t>(chart.bars.size(), 1));
  const double step = std::clamp(620 / count, 14.0, 80.0), right = kBarsLeft + std::max(step * count, 300.0);
  const NameLayout names = layout_of(chart, step);
  double low = 0, high = 0;
  for (const auto& bar : chart.bars)
    if (std::isfinite(bar.value)) low = std::min(low, bar.value), high = std::max(high, bar.value);
  SvgPicture picture(static_cast<int>(right + kChartRight), static_cast<int>(kChartTop + kPlot + names.space + 4));
  picture.text(kBarsLeft, 21, chart.unit.empty() ? chart.title : chart.title + " (" + chart.unit + ")",
               TextAnchor::start, 14);
  const Axis y(low, high, kChartTop + kPlot, kChartTop);
  for (const double tick : y.ticks()) {
    picture.line(kBarsLeft, y.at(tick), right, y.at(tick), kGridColor);
    picture.text(kBarsLeft - 8, y.at(tick) + 4, tick_text(tick), TextAnchor::end);
  }
  double x = kBarsLeft;
  for (const auto& bar : chart.bars) {
    const double end = y.at(std::isfinite(bar.value) ? bar.value : 0), zero = y.at(0);
    picture.bar(x + step / 8, std::min(end, zero), step * 3 / 4, std::abs(end - zero), bar.value < 0 ? kDown : kUp,
                bar.name + ": " + tick_text(bar.value));
    if (names.turned)
      picture.text(x + step / 2 + 4, kChartTop + kPlot + 10, bar.name, TextAnchor::end, 11, true);
    else
      picture.text(x + step / 2, kChartTop + kPlot + 18, bar.name, TextAnchor::middle);
    x += step;
  }
  picture.line(kBarsLeft, y.at(0), right, y.at(0), kZero);
  return picture.take();
}

}  // namespace retrace
