#include "retrace/data/padded_texts.h"

#include <algorithm>

#include "retrace/base/file.h"
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

std::vector<int32_t> numbers_of(const TextPiece& piece, const Tokens& tokens) {
  std::vector<int32_t> numbers;
  if (!tokens.vocabulary) {
    for (const char byte : piece.bytes) numbers.push_back(static_cast<unsigned char>(byte) + 1);
    return numbers;
  }
  token_text({piece}, TokenKind::characters);  // is it UTF-8?
  std::vector<uint16_t> own;
  tokens.vocabulary->encode(piece.bytes, own);
  for (const uint16_t number : own) numbers.push_back(number + 1);
  return numbers;
}

}  // namespace

std::vector<OptionRule> padded_text_rules() {
  constexpr double kMost = 1 << 24;
  return {{.name = "length",
           .help = "tokens of a sample; the token 0 stands behind shorter texts, longer ones are cut",
           .standard = int64_t{256},
           .low = 1,
           .high = kMost},
          {.name = "tokens",
           .help = "what a token is: a byte (its value + 1), or one of a vocabulary of pairs (its number + 1)",
           .standard = std::string("bytes"),
           .choices = {"bytes", "pairs"}},
          {.name = "vocabulary",
           .help = "of pairs: a folder with vocab.json and merges.txt, or a tokenizer.json",
           .standard = std::string(),
           .changes_bits = false}};
}

std::vector<int32_t> padded_tokens(const TextPiece& piece, const Tokens& tokens, int64_t length) {
  if (piece.bytes.empty())
    throw Error(ErrorKind::bad_data, 295, "a text is empty")
        .where(printable(piece.name))
        .expected("one character or more")
        .help("take its file or its record away");
  std::vector<int32_t> numbers = numbers_of(piece, tokens);
  numbers.resize(std::min(numbers.size(), static_cast<size_t>(length)));
  numbers.shrink_to_fit();
  return numbers;
}

Datastore padded_texts(std::vector<LabelledTokens> texts, int64_t length, std::vector<std::string> files) {
  return Datastore(std::make_shared<PaddedTexts>(std::move(texts), length, std::move(files)), Place());
}

}  // namespace retrace
