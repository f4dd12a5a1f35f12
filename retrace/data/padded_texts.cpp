#include "retrace/data/padded_texts.h"

#include <algorithm>

namespace retrace {
namespace {

class PaddedTextSource : public DataSource {
 public:
  PaddedTextSource(std::vector<LabelledTokens> texts, int64_t length, std::vector<std::string> files)
      : texts_(std::move(texts)), length_(length), files_(std::move(files)) {}

  int64_t size() const override { return std::ssize(texts_); }
  int variables() const override { return 2; }

  Observation get(int64_t index, int64_t) const override {
    return {tokens({&index, 1}, {length_}, "C"), classes({&index, 1}, {}, "")};
  }

  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t, int variables) const override {
    const int64_t count = std::ssize(indices);
    std::vector<Tensor> batch;
    if (variables > 0) batch.push_back(tokens(indices, {count, length_}, "BC"));
    if (variables > 1) batch.push_back(classes(indices, {count}, "B"));
    return batch;
  }

  int64_t length(int64_t index) const override { return std::min(std::ssize(text(index).tokens), length_); }

  std::vector<SourceFile> files() const override {
    std::vector<SourceFile> files;
    for (const auto& path : files_) files.push_back({path});
    return files;
  }

 private:
  const LabelledTokens& text(int64_t index) const { return texts_[static_cast<size_t>(index)]; }

  Tensor tokens(std::span<const int64_t> indices, const Shape& shape, const char* labels) const {
    std::vector<float> values(indices.size() * static_cast<size_t>(length_));  // zeros
    auto at = values.begin();
    for (const int64_t index : indices) {
      const auto& own = text(index).tokens;
      std::copy_n(own.begin(), std::min(std::ssize(own), length_), at);
      at += length_;
    }
    return Tensor::from(values, shape, labels);
  }

  Tensor classes(std::span<const int64_t> indices, const Shape& shape, const char* labels) const {
    std::vector<int32_t> values;
    for (const int64_t index : indices) values.push_back(text(index).number);
    return Tensor::from(values, shape, labels);
  }

  const std::vector<LabelledTokens> texts_;
  const int64_t length_;
  const std::vector<std::string> files_;
};

}  // namespace

Datastore padded_texts(std::vector<LabelledTokens> texts, int64_t length, std::vector<std::string> files) {
  return Datastore(std::make_shared<PaddedTextSource>(std::move(texts), length, std::move(files)), Place());
}

}  // namespace retrace
