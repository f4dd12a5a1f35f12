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

LabelledTokens read_labelled(const ClassFile& file, const Tokens& tokens, int64_t length) {
  const TextPiece piece{file.path.string(), read_file(file.path, "text file", kMostBytes)};
  return {padded_tokens(piece, tokens, length), file.number};
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
  return {.name = "texts",
          .help =
              "texts of classes: the files data.path/train/CLASS/*.txt and data.path/test/CLASS/*.txt, or "
              "data.path/CLASS/*.txt "
              "with data.test_share",
          .targets = {{.name = "class"}},
          .reads_folder = true,
          .files = "train/CLASS and test/CLASS, or CLASS alone, folders of texts",
          .options = padded_text_rules(),
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
