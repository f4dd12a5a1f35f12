#include "retrace/data/padded_texts.h"

#include <algorithm>

#include "retrace/data/padded_samples.h"

namespace retrace {
namespace {

class PaddedTexts : public PaddedSamples {
 public:
  PaddedTexts(std::vector<LabelledTokens> texts, int64_t length, std::vector<std::string> files)
      : PaddedSamples(std::move(files)), texts_(std::move(texts)), length_(length) {}

  int64_t size() const override { return std::ssize(texts_); }
  int64_t length(int64_t index) const override { return std::min(std::ssize(text(index).tokens), length_); }

 private:
  const LabelledTokens& text(int64_t index) const { return texts_[static_cast<size_t>(index)]; }

  Tensor targets(std::span<const int64_t> indices, bool stacked) const override {
    if (!stacked) return Tensor::scalar(text(indices[0]).number);
    std::vector<int32_t> classes;
    for (const int64_t index : indices) classes.push_back(text(index).number);
    return Tensor::from(classes, {std::ssize(indices)}, "B");
  }

  Tensor inputs(std::span<const int64_t> indices, bool stacked) const override {
    std::vector<float> made(indices.size() * static_cast<size_t>(length_));  // zeros
    auto at = made.begin();
    for (const int64_t index : indices) {
      std::copy_n(text(index).tokens.begin(), length(index), at);
      at += length_;
    }
    return stacked ? Tensor::from(made, {std::ssize(indices), length_}, "BC") : Tensor::from(made, {length_}, "C");
  }

  const std::vector<LabelledTokens> texts_;
  const int64_t length_;
};

}  // namespace

Datastore padded_texts(std::vector<LabelledTokens> texts, int64_t length, std::vector<std::string> files) {
  return Datastore(std::make_shared<PaddedTexts>(std::move(texts), length, std::move(files)), Place());
}

}  // namespace retrace
