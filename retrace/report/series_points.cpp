#include "retrace/report/series_points.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace retrace {
namespace {

constexpr size_t kChunk = 1024;
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

double finite_or_nan(double value) { return std::isfinite(value) ? value : kNoNumber; }

bool same_bits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

// Minimum, maximum and mean of what is added.
struct Extremes {
  double minimum = 0, maximum = 0, sum = 0;
  uint64_t finite = 0;

  void add(double low, double high, double total, uint64_t count) {
    if (count == 0) return;
    minimum = finite == 0 ? low : std::min(minimum, low);
    maximum = finite == 0 ? high : std::max(maximum, high);
    sum += total, finite += count;
  }
};

}  // namespace

void SeriesPoints::Chunk::add(double at, double value) {
  if (points == 0) x_first = at;
  x.push_back(at), y.push_back(value);
  ++points;
  if (std::isfinite(value)) {
    minimum = finite == 0 ? value : std::min(minimum, value);
    maximum = finite == 0 ? value : std::max(maximum, value);
    sum += value, ++finite;
  }
  if (points == kChunk) shrink();
}

void SeriesPoints::Chunk::shrink() {
  x_step = x[1] - x[0];
  bool even = true;
  for (size_t i = 0; i < x.size() && even; ++i) even = same_bits(x[i], x_first + static_cast<double>(i) * x_step);
  if (even) std::vector<double>().swap(x);
  y_all = y[0];
  if (std::all_of(y.begin(), y.end(), [&](double value) { return same_bits(value, y_all); }))
    std::vector<double>().swap(y);
}

void SeriesPoints::append(double x, double y) {
  if (points_ % kChunk == 0) chunks_.emplace_back();
  chunks_.back().add(x, y);
  ++points_;
}

void SeriesPoints::add(double x, double y) {
  if (!std::isfinite(x)) return;
  if (points_ > 0 && x < x_at(points_ - 1)) sorted_ = false;
  append(x, y);
}

void SeriesPoints::sort() {
  if (std::exchange(sorted_, true)) return;
  std::vector<std::pair<double, double>> all;
  for (const auto& chunk : chunks_)
    for (size_t i = 0; i < chunk.points; ++i) all.emplace_back(chunk.x_at(i), chunk.y_at(i));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  chunks_.clear(), points_ = 0;
  for (const auto& [x, y] : all) append(x, y);
}

void SeriesPoints::cut(double x) {
  sort();
  const uint64_t kept = find(x, false);
  if (kept == points_) return;
  Chunk last;
  if (kept % kChunk != 0) last = std::move(chunks_[kept / kChunk]);
  chunks_.resize(kept / kChunk);
  points_ = kept / kChunk * kChunk;
  for (size_t i = 0; i < kept % kChunk; ++i) append(last.x_at(i), last.y_at(i));
}

double SeriesPoints::x_at(uint64_t i) const { return chunks_[i / kChunk].x_at(i % kChunk); }

uint64_t SeriesPoints::find(double x, bool after) const {
  uint64_t low = 0, high = points_;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const double at = x_at(middle);
    if (after ? at <= x : at < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

SeriesInfo SeriesPoints::info(const std::string& name) {
  sort();
  return {name, points_, points_ == 0 ? 0 : x_at(0), points_ == 0 ? 0 : x_at(points_ - 1)};
}

SeriesBucket SeriesPoints::bucket(uint64_t begin, uint64_t end) const {
  Extremes all;
  for (uint64_t i = begin; i < end;) {
    const Chunk& chunk = chunks_[i / kChunk];
    const uint64_t left = std::min<uint64_t>(end - i, chunk.points - i % kChunk);
    if (left == chunk.points) {
      all.add(chunk.minimum, chunk.maximum, chunk.sum, chunk.finite);
    } else {
      for (uint64_t k = i % kChunk; k < i % kChunk + left; ++k)
        if (const double y = chunk.y_at(k); std::isfinite(y)) all.add(y, y, y, 1);
    }
    i += left;
  }
  const auto y_at = [&](uint64_t i) { return finite_or_nan(chunks_[i / kChunk].y_at(i % kChunk)); };
  const bool none = all.finite == 0;
  return {x_at(begin),
          x_at(end - 1),
          none ? kNoNumber : all.minimum,
          none ? kNoNumber : all.maximum,
          y_at(begin),
          y_at(end - 1),
          none ? kNoNumber : all.sum / static_cast<double>(all.finite),
          end - begin};
}

std::vector<SeriesBucket> SeriesPoints::read(double x_from, double x_to, size_t most) {
  sort();
  std::vector<SeriesBucket> buckets;
  if (!(x_from <= x_to) || most == 0) return buckets;
  const uint64_t begin = find(x_from, false), count = find(x_to, true) - begin;
  const uint64_t parts = std::min<uint64_t>(count, most);
  // Part i begins at i * count / parts, without the product.
  const auto part = [&](uint64_t i) { return begin + i * (count / parts) + i * (count % parts) / parts; };
  for (uint64_t i = 0; i < parts; ++i) buckets.push_back(bucket(part(i), part(i + 1)));
  return buckets;
}

size_t SeriesPoints::bytes() const {
  size_t bytes = chunks_.capacity() * sizeof(Chunk);
  for (const auto& chunk : chunks_) bytes += (chunk.x.capacity() + chunk.y.capacity()) * sizeof(double);
  return bytes;
}

}  // namespace retrace
