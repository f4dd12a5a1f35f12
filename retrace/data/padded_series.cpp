#include "retrace/data/padded_series.h"

#include <algorithm>
#include <limits>

#include "retrace/data/padded_samples.h"

namespace retrace {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class PaddedSeries : public PaddedSamples {
 public:
  PaddedSeries(std::vector<TargetedSeries> series, const SeriesForm& form, std::vector<std::string> files)
      : PaddedSamples(std::move(files)), series_(std::move(series)), form_(form) {}

  int64_t size() const override { return std::ssize(series_); }
  int64_t length(int64_t index) const override {
    return std::min(std::ssize(one(index).values) / form_.features, form_.length);
  }
  bool has_length(int variable) const override {
    return variable == 0 || (variable == 1 && (form_.target == SeriesTarget::position_classes || is_position_values()));
  }

 private:
  const TargetedSeries& one(int64_t index) const { return series_[static_cast<size_t>(index)]; }
  bool is_position_values() const { return form_.target == SeriesTarget::position_values; }

  // Rows of that shape, each with the beginning of a series' own numbers and `fill` behind them.
  template <class T>
  Tensor rows(std::span<const int64_t> indices, bool stacked, const Shape& shape, std::string labels, T fill,
              const std::vector<T> TargetedSeries::* own) const {
    const auto each = static_cast<size_t>(shape.count());
    std::vector<T> made(indices.size() * each, fill);
    auto at = made.begin();
    for (const int64_t index : indices) {
      const auto& values = one(index).*own;
      std::copy_n(values.begin(), std::min(values.size(), each), at);
      at += static_cast<ptrdiff_t>(each);
    }
    if (!stacked) return Tensor::from(made, shape, labels);
    Shape all{std::ssize(indices)};
    for (const int64_t size : shape) all.push_back(size);
    return Tensor::from(made, all, "B" + labels);
  }

  Tensor inputs(std::span<const int64_t> indices, bool stacked) const override {
    return rows(indices, stacked, {form_.length, form_.features}, "TC", kNaN, &TargetedSeries::values);
  }

  Tensor targets(std::span<const int64_t> indices, bool stacked) const override {
    const auto numbers = [&](const Shape& shape, const char* labels) {
      return rows(indices, stacked, shape, labels, int32_t{-1}, &TargetedSeries::numbers);
    };
    const auto values = [&](const Shape& shape, const char* labels) {
      return rows(indices, stacked, shape, labels, kNaN, &TargetedSeries::targets);
    };
    switch (form_.target) {
      case SeriesTarget::series_values: return values({form_.width}, "C");
      case SeriesTarget::position_classes: return numbers({form_.length}, "T");
      case SeriesTarget::position_values: return values({form_.length, form_.width}, "TC");
      case SeriesTarget::tokens: return numbers({form_.width}, "T");
      default: return numbers({}, "");
    }
  }

  const std::vector<TargetedSeries> series_;
  const SeriesForm form_;
};

}  // namespace

Datastore padded_series(std::vector<TargetedSeries> series, const SeriesForm& form, std::vector<std::string> files) {
  return Datastore(std::make_shared<PaddedSeries>(std::move(series), form, std::move(files)), Place());
}

}  // namespace retrace
