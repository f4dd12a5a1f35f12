#include "retrace/monitor/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "retrace/base/double_math.h"
#include "retrace/base/file.h"

namespace retrace {
namespace {

constexpr double kLog10 = 2.302585092994046;

double power_of_ten(int exponent) {
  double power = 1;
  for (int i = 0; i < (exponent < 0 ? -exponent : exponent); ++i) power *= 10;
  return exponent < 0 ? 1 / power : power;
}

int64_t whole_above(double value) {
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) < value ? whole + 1 : whole;
}

// The exponent of the largest power of ten that is not above.
int exponent_of(double value) {
  int exponent = static_cast<int>(whole_above(double_math::log(value) / kLog10)) - 1;
  while (power_of_ten(exponent + 1) <= value) ++exponent;
  while (power_of_ten(exponent) > value) --exponent;
  return exponent;
}

// What is missing to a tick or a step by a part of it that nobody sees, such as a rate of 0.001 in f32, counts as
// there.
constexpr double kUnseen = 1e-6;

std::vector<double> linear_ticks(double low, double high) {
  const int exponent = exponent_of((high - low) / 5);
  const double share = (high - low) / 5 / power_of_ten(exponent) - kUnseen;
  const int factor = share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10;
  // A division of whole numbers, so that 0.3 is the nearest number to it.
  const auto tick = [&](int64_t i) {
    const auto count = static_cast<double>(i * factor);
    return exponent < 0 ? count / power_of_ten(-exponent) : count * power_of_ten(exponent);
  };
  std::vector<double> ticks;
  const double most = high + kUnseen * tick(1);
  for (int64_t i = whole_above(low / tick(1) - kUnseen); tick(i) <= most && ticks.size() < 20; ++i)
    ticks.push_back(tick(i));
  return ticks;
}

std::vector<double> logarithmic_ticks(double low, double high) {
  const int first = exponent_of(low), last = exponent_of(high), every = (last - first) / 8 + 1;
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; exponent += every)
    for (const int factor : {1, 2, 5}) {
      const double tick = exponent < 0 ? factor / power_of_ten(-exponent) : factor * power_of_ten(exponent);
      if ((factor == 1 || last - first < 3) && tick >= low && tick <= high) ticks.push_back(tick);
    }
  return ticks;
}

const char* name_of(TextAnchor anchor) {
  return anchor == TextAnchor::start ? "start" : anchor == TextAnchor::middle ? "middle" : "end";
}

}  // namespace

std::string markup_text(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string tick_text(double value) { return fmt::format("{:.6g}", value); }

Axis::Axis(double low, double high, double first, double last, bool log) : log_(log), first_(first), last_(last) {
  if (low == high && log) low /= 2, high *= 2;
  if (low == high) {
    const double half = low == 0 ? 1 : (low < 0 ? -low : low) / 2;
    low -= half, high += half;
  }
  low_ = position(low), high_ = position(high);
  if (log) ticks_ = logarithmic_ticks(low, high);
  if (ticks_.size() < 2) ticks_ = linear_ticks(low, high);  // also between two powers of ten
}

double Axis::position(double value) const { return log_ ? double_math::log(value) : value; }

double Axis::at(double value) const { return first_ + (position(value) - low_) / (high_ - low_) * (last_ - first_); }

SvgPicture::SvgPicture(int width, int height)
    : text_(
          fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                      "font-family=\"sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
                      width, height)) {}

void SvgPicture::line(double x1, double y1, double x2, double y2, std::string_view colour, double width) {
  text_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
      "stroke-width=\"{:.1f}\"/>\n",
      x1, y1, x2, y2, colour, width);
}

void SvgPicture::curve(const SvgPoints& points, std::string_view colour, double width, std::string_view dashes) {
  text_ += "<polyline points=\"";
  for (const auto& [x, y] : points) text_ += fmt::format("{:.1f},{:.1f} ", x, y);
  text_ +=
      fmt::format("\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\" stroke-linejoin=\"round\"", colour, width);
  if (!dashes.empty()) text_ += fmt::format(" stroke-dasharray=\"{}\"", dashes);
  text_ += "/>\n";
}

void SvgPicture::dot(double x, double y, double radius, std::string_view colour) {
  text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"/>\n", x, y, radius, colour);
}

void SvgPicture::bar(double x, double y, double width, double height, std::string_view colour, std::string_view name) {
  text_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n", x, y,
      width, height, colour, markup_text(name));
}

void SvgPicture::text(double x, double y, std::string_view text, TextAnchor anchor, int size, bool turned) {
  text_ += fmt::format("<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"{2}\" font-size=\"{3}\" fill=\"#1f2937\"", x, y,
                       name_of(anchor), size);
  if (turned) text_ += fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", x, y);
  text_ += fmt::format(">{}</text>\n", markup_text(text));
}

void SvgPicture::move_down(double pixels) {
  text_ += fmt::format("<g transform=\"translate(0 {:.1f})\">\n", pixels);
  ++groups_;
}

std::string SvgPicture::take() {
  for (; groups_ > 0; --groups_) text_ += "</g>\n";
  return std::move(text_) + "</svg>\n";
}

}  // namespace retrace
