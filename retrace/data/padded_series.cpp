#include "retrace/data/padded_series.h"

#include <algorithm>
#include <limits>

namespace retrace {
namespace {

class PaddedSeriesSource : public DataSource {
 public:
  PaddedSeriesSource(std::vector<LabelledSeries> series, int64_t length, int64_t features,
                     std::vector<std::string> files)
      : series_(std::move(series)), length_(length), features_(features), files_(std::move(files)) {}

  int64_t size() const override { return std::ssize(series_); }
  int variables() const override { return 2; }

  Observation get(int64_t index, int64_t) const override {
    return {values({&index, 1}, {length_, features_}, "TC"), classes_of_series({&index, 1}, {}, "")};
  }

  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t, int variables) const override {
    const int64_t count = std::ssize(indices);
    std::vector<Tensor> batch;
    if (variables > 0) batch.push_back(values(indices, {count, length_, features_}, "BTC"));
    if (variables > 1) batch.push_back(classes_of_series(indices, {count}, "B"));
    return batch;
  }

  int64_t length(int64_t index) const override { return std::min(std::ssize(one(index).values) / features_, length_); }

  std::vector<SourceFile> files() const override {
    std::vector<SourceFile> files;
    for (const auto& path : files_) files.push_back({path});
    return files;
  }

 private:
  const LabelledSeries& one(int64_t index) const { return series_[static_cast<size_t>(index)]; }

  Tensor values(std::span<const int64_t> indices, const Shape& shape, const char* labels) const {
    const int64_t each = length_ * features_;
    std::vector<float> made(indices.size() * static_cast<size_t>(each), std::numeric_limits<float>::quiet_NaN());
    auto at = made.begin();
    for (const int64_t index : indices) {
      std::copy_n(one(index).values.begin(), length(index) * features_, at);
      at += each;
    }
    return Tensor::from(made, shape, labels);
  }

  Tensor classes_of_series(std::span<const int64_t> indices, const Shape& shape, const char* labels) const {
    std::vector<int32_t> numbers;
    for (const int64_t index : indices) numbers.push_back(one(index).number);
    return Tensor::from(numbers, shape, labels);
  }

  const std::vector<LabelledSeries> series_;
  const int64_t length_, features_;
  const std::vector<std::string> files_;
};

}  // namespace

Datastore padded_series(std::vector<LabelledSeries> series, int64_t length, int64_t features,
                        std::vector<std::string> files) {
  return Datastore(std::make_shared<PaddedSeriesSource>(std::move(series), length, features, std::move(files)),
                   Place());
}

}  // namespace retrace
