#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/data/class_folders.h"
#include "retrace/data/padded_texts.h"
#include "retrace/data/source_kind.h"
#include "retrace/data/token_text.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of a file

const ClassFolderWords kTexts{"folder of texts", "text file", {".txt"}};

fs::path folder_of(Split split, const SourceRequest& request) { return set_of_classes(split, request, kTexts); }

// From 1 on; 0 is padding.
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

LabelledTokens read_labelled(const ClassFile& file, const Tokens& tokens, int64_t length) {
  const TextPiece piece{file.path.string(), read_file(file.path, "text file", kMostBytes)};
  if (piece.bytes.empty())
    throw Error(ErrorKind::bad_data, 295, "a text is empty")
        .where(printable(piece.name))
        .expected("one character or more")
        .help("take the file away");
  std::vector<int32_t> numbers = numbers_of(piece, tokens);
  numbers.resize(std::min(numbers.size(), static_cast<size_t>(length)));
  numbers.shrink_to_fit();
  return {std::move(numbers), file.number};
}

// Those of the training set.
std::vector<std::string> class_names_of_texts(const SourceRequest& request) {
  const auto& known = request.training.class_names;
  return known.empty() ? classes_in(folder_of(Split::train, request), kTexts) : known;
}

SourceSet load_texts(Split split, const SourceRequest& request) {
  const std::vector<std::string> classes = class_names_of_texts(request);
  const Tokens tokens = tokens_of(request.options);
  const int64_t length = request.options.integer("length");
  std::vector<LabelledTokens> texts;
  std::vector<std::string> files;
  for (const auto& file : files_of_classes(folder_of(split, request), classes, kTexts)) {
    texts.push_back(read_labelled(file, tokens, length));
    files.push_back(file.path.string());
  }
  if (tokens.vocabulary)
    files.insert(files.end(), tokens.vocabulary->files().begin(), tokens.vocabulary->files().end());
  return {padded_texts(std::move(texts), length, std::move(files)), std::ssize(classes), {.class_names = classes}};
}

// The names of files say all but their tokens.
SourceDescription description_of_texts(Split split, const SourceRequest& request) {
  const std::vector<std::string> classes = class_names_of_texts(request);
  const Shape one{request.options.integer("length")};
  return {std::ssize(files_of_classes(folder_of(split, request), classes, kTexts)),
          {{DType::f32, one, Labels("C"), {}}, {DType::i32, {}, {}, {}}},
          std::ssize(classes),
          {.class_names = classes}};
}

OptionValues look_texts(const fs::path& folder) {
  const fs::path train = folder_of(Split::train, {.path = folder});
  for (const auto& name : classes_in(train, kTexts)) class_files_in(train / name, kTexts);
  return {};
}

SourceInputs inputs_of_texts(const fs::path& input, const SourceRequest& request) {
  const Tokens tokens = tokens_of(request.options);
  const int64_t length = request.options.integer("length");
  std::vector<LabelledTokens> texts;
  std::vector<std::string> names;
  for (const auto& file : files_to_predict(input, kTexts)) {
    texts.push_back(read_labelled({file}, tokens, length));
    names.push_back(file.string());
  }
  return {padded_texts(std::move(texts), length), std::move(names)};
}

}  // namespace

SourceKind texts_source() {
  constexpr double kMost = 1 << 24;
  return {
      .name = "texts",
      .help =
          "texts of classes: the files data.path/train/CLASS/*.txt and data.path/test/CLASS/*.txt, or "
          "data.path/CLASS/*.txt "
          "with data.test_share",
      .targets = {{.name = "class"}},
      .reads_folder = true,
      .files = "train/CLASS and test/CLASS, or CLASS alone, folders of texts",
      .options = {{.name = "length",
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
                   .changes_bits = false}},
      .size_keys = "data.length",
      .sample = [](const SourceRequest& request) { return Shape{request.options.integer("length")}; },
      .load = load_texts,
      .description = description_of_texts,
      .inputs = inputs_of_texts,
      .class_names = class_names_of_texts,
      .look = look_texts,
      .origin = [](Split split, int,
                   const SourceRequest& request) { return printable(folder_of(split, request).string()); }};
}

}  // namespace retrace
