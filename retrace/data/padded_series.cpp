#include "retrace/data/padded_series.h"

#include <algorithm>
#include <limits>

#include "retrace/data/padded_samples.h"

namespace retrace {
namespace {

class PaddedSeries : public PaddedSamples {
 public:
  PaddedSeries(std::vector<LabelledSeries> series, int64_t length, int64_t features, std::vector<std::string> files)
      : PaddedSamples(std::move(files)), series_(std::move(series)), length_(length), features_(features) {}

  int64_t size() const override { return std::ssize(series_); }
  int64_t length(int64_t index) const override { return std::min(std::ssize(one(index).values) / features_, length_); }

 private:
  const LabelledSeries& one(int64_t index) const { return series_[static_cast<size_t>(index)]; }
  int32_t class_of(int64_t index) const override { return one(index).number; }

  Tensor inputs(std::span<const int64_t> indices, bool stacked) const override {
    const int64_t each = length_ * features_;
    std::vector<float> made(indices.size() * static_cast<size_t>(each), std::numeric_limits<float>::quiet_NaN());
    auto at = made.begin();
    for (const int64_t index : indices) {
      std::copy_n(one(index).values.begin(), length(index) * features_, at);
      at += each;
    }
    return stacked ? Tensor::from(made, {std::ssize(indices), length_, features_}, "BTC")
                   : Tensor::from(made, {length_, features_}, "TC");
  }

  const std::vector<LabelledSeries> series_;
  const int64_t length_, features_;
};

}  // namespace

Datastore padded_series(std::vector<LabelledSeries> series, int64_t length, int64_t features,
                        std::vector<std::string> files) {
  return Datastore(std::make_shared<PaddedSeries>(std::move(series), length, features, std::move(files)), Place());
}

}  // namespace retrace
