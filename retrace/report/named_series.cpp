#include "retrace/report/named_series.h"

namespace retrace {

constexpr size_t kMostSeries = 10'000;

void NamedSeries::add(const std::string& name, double x, double y) {
  auto place = places_.find(name);
  if (place == places_.end()) {
    if (series_.size() == kMostSeries) return;
    place = places_.emplace(name, series_.size()).first;
    series_.emplace_back(name, SeriesPoints());
  }
  series_[place->second].second.add(x, y);
}

void NamedSeries::cut(double x) {
  for (auto& one : series_) one.second.cut(x);
}

void NamedSeries::clear() { places_.clear(), series_.clear(); }

void NamedSeries::append_to(std::vector<SeriesInfo>& list) {
  for (auto& [name, points] : series_) list.push_back(points.info(name));
}

SeriesPoints* NamedSeries::find(const std::string& name) {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &series_[place->second].second;
}

size_t NamedSeries::bytes() const {
  size_t bytes = 0;
  for (const auto& [name, points] : series_) bytes += points.bytes() + 2 * name.capacity() + sizeof(SeriesPoints) + 96;
  return bytes;
}

}  // namespace retrace
