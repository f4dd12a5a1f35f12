#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/base/joined.h"
#include "retrace/data/padded_texts.h"
#include "retrace/data/source_kind.h"
#include "retrace/data/token_text.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of a file

fs::path folder_of(Split split, const SourceRequest& request) {
  return request.path / (split == Split::train ? "train" : "test");
}

// Without links and names that begin with a dot, in the order of their bytes.
std::vector<std::string> names_in(const fs::path& folder, fs::file_type type) {
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) throw missing_path(folder, "folder of texts");
  std::vector<std::string> names = folder_names(folder, failure);
  if (failure) throw read_failed(folder, "folder of texts", failure.value());
  std::erase_if(names, [&](const std::string& name) {
    return name[0] == '.' || fs::symlink_status(folder / name, failure).type() != type;
  });
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> classes_in(const fs::path& folder) {
  std::vector<std::string> classes = names_in(folder, fs::file_type::directory);
  if (classes.empty()) throw missing_path(folder / "CLASS", "folder of texts");
  return classes;
}

struct File {
  fs::path path;
  int32_t number = 0;  // of its class
};

std::vector<fs::path> texts_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& name : names_in(folder, fs::file_type::regular))
    if (name.ends_with(".txt")) files.push_back(folder / name);
  if (files.empty()) throw missing_path(folder / "*.txt", "text file");
  return files;
}

Error unknown_class(const fs::path& folder, const std::vector<std::string>& known) {
  return Error(ErrorKind::bad_data, 286, "a folder of texts is of no class of the training")
      .where(printable(folder.string()))
      .expected(fmt::format("one of {}", printable(joined(known, ", "))))
      .help("the training set has a folder for each class: move the texts, or train with the class");
}

// The classes in turn: the first text of each, the second of each, ... So the first so many have them evenly.
std::vector<File> files_of(const fs::path& folder, const std::vector<std::string>& classes) {
  std::vector<std::vector<fs::path>> by_class(classes.size());
  size_t most = 0;
  for (const auto& name : classes_in(folder)) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) throw unknown_class(folder / name, classes);
    auto& own = by_class[static_cast<size_t>(found - classes.begin())] = texts_in(folder / name);
    most = std::max(most, own.size());
  }
  std::vector<File> files;
  for (size_t i = 0; i < most; ++i)
    for (size_t number = 0; number < by_class.size(); ++number)
      if (i < by_class[number].size()) files.push_back({by_class[number][i], static_cast<int32_t>(number)});
  return files;
}

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

LabelledTokens read_labelled(const File& file, const Tokens& tokens, int64_t length) {
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
  return known.empty() ? classes_in(folder_of(Split::train, request)) : known;
}

SourceSet load_texts(Split split, const SourceRequest& request) {
  const std::vector<std::string> classes = class_names_of_texts(request);
  const Tokens tokens = tokens_of(request.options);
  const int64_t length = request.options.integer("length");
  std::vector<LabelledTokens> texts;
  std::vector<std::string> files;
  for (const auto& file : files_of(folder_of(split, request), classes)) {
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
  return {std::ssize(files_of(folder_of(split, request), classes)),
          {{DType::f32, one, Labels("C"), {}}, {DType::i32, {}, {}, {}}},
          std::ssize(classes),
          {.class_names = classes}};
}

OptionValues look_texts(const fs::path& folder) {
  const fs::path train = folder / "train";
  for (const auto& name : classes_in(train)) texts_in(train / name);
  return {};
}

// Of a folder: those in it and in its folders.
void add_texts(const fs::path& folder, std::vector<fs::path>& files) {
  for (const auto& name : names_in(folder, fs::file_type::regular))
    if (name.ends_with(".txt")) files.push_back(folder / name);
  for (const auto& name : names_in(folder, fs::file_type::directory)) add_texts(folder / name, files);
}

SourceInputs inputs_of_texts(const fs::path& input, const SourceRequest& request) {
  std::error_code failure;
  std::vector<fs::path> files;
  if (fs::is_directory(input, failure))
    add_texts(input, files);
  else if (input.extension() == ".txt")
    files.push_back(input);
  if (files.empty())
    throw Error(ErrorKind::usage, 299, fmt::format("predict finds no text in \"{}\"", printable(input.string())))
        .expected("a file whose name ends with .txt, or a folder of such files");
  const Tokens tokens = tokens_of(request.options);
  const int64_t length = request.options.integer("length");
  std::vector<LabelledTokens> texts;
  std::vector<std::string> names;
  for (const auto& file : files) {
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
      .help = "texts of classes: the files data.path/train/CLASS/*.txt and data.path/test/CLASS/*.txt",
      .targets = {{.name = "class"}},
      .reads_folder = true,
      .files = "train/CLASS and test/CLASS, folders of texts",
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
