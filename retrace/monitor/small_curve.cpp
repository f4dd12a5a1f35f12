#include "retrace/monitor/small_curve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace retrace {
namespace {

constexpr size_t kPlaces = 20;
constexpr const char* kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

}  // namespace

void SmallCurve::add(double value) {
  if (places_.empty() || places_.back().all == span_) {
    if (places_.size() == kPlaces) {
      for (size_t i = 0; i < kPlaces / 2; ++i) {
        const Place &a = places_[2 * i], &b = places_[2 * i + 1];
        places_[i] = {a.sum + b.sum, a.count + b.count, a.all + b.all};
      }
      places_.resize(kPlaces / 2);
      span_ *= 2;
    }
    places_.emplace_back();
  }
  Place& last = places_.back();
  ++last.all;
  if (std::isfinite(value)) last.sum += value, ++last.count;
}

std::string SmallCurve::text() const {
  if (places_.size() < 2) return "";
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto mean = [](const Place& place) { return place.sum / static_cast<double>(place.count); };
  for (const Place& place : places_)
    if (place.count > 0) low = std::min(low, mean(place)), high = std::max(high, mean(place));
  std::string text;
  for (const Place& place : places_) {
    const double part = high > low ? (mean(place) - low) / (high - low) : 0;
    text += place.count > 0 ? kHeights[std::clamp(static_cast<int>(part * 8), 0, 7)] : " ";
  }
  return text;
}

std::string progress_bar(double part, int columns) {
  const int eighths = static_cast<int>(std::clamp(part, 0.0, 1.0) * 8 * columns);
  std::string text;
  for (int i = 0; i < columns; ++i) {
    const int here = std::clamp(eighths - 8 * i, 0, 8);
    text += here == 8 ? "█" : here == 0 ? "░" : kParts[here];
  }
  return text;
}

size_t text_columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace retrace
