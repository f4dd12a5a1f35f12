#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/data/source_kind.h"
#include "retrace/data/text_store.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

// A folder with a text for each split.
bool has_two_texts(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "train.txt", ignored) && fs::is_regular_file(folder / "test.txt", ignored);
}

struct SplitText {
  std::shared_ptr<const TokenText> text;
  TextWindows windows;
  std::vector<std::string> files;
};

SplitText read(const fs::path& path, const SourceRequest& request, const std::vector<std::string>& known) {
  SplitText found;
  std::vector<TextPiece> pieces = read_text(path);
  for (const auto& piece : pieces) found.files.push_back(piece.name);
  const Tokens tokens = tokens_of(request.options);
  if (tokens.vocabulary)
    found.files.insert(found.files.end(), tokens.vocabulary->files().begin(), tokens.vocabulary->files().end());
  found.text = std::make_shared<TokenText>(token_text(pieces, tokens, known));
  found.windows.length = request.options.integer("length");
  return found;
}

// Those of both texts of a folder that has two.
std::vector<std::string> all_tokens(const SourceRequest& request) {
  std::vector<TextPiece> pieces = read_text(request.path / "train.txt");
  pieces.push_back(read_text(request.path / "test.txt")[0]);
  return token_text(pieces, tokens_of(request.options)).names;
}

SplitText text_of(Split split, const SourceRequest& request) {
  const auto& known = request.training.class_names;
  const bool test = split == Split::test;
  SplitText found;
  if (has_two_texts(request.path)) {
    found =
        read(request.path / (test ? "test.txt" : "train.txt"), request, known.empty() ? all_tokens(request) : known);
  } else {
    found = read(request.path, request, known);
    const auto size = std::ssize(found.text->numbers);
    const auto tested = static_cast<int64_t>(static_cast<double>(size) * request.options.number("test_part"));
    (test ? found.windows.first : found.windows.end) = size - tested;
  }
  if (!test) found.windows.stride = request.options.integer("stride");
  return found;
}

SourceSet set_of(const SplitText& found) {
  return {text_windows(found.text, found.windows, found.files),
          std::ssize(found.text->names),
          {.class_names = found.text->names}};
}

SourceSet load(Split split, const SourceRequest& request) { return set_of(text_of(split, request)); }

// The tokens are not known before the text is read.
SourceDescription description_of_text(Split split, const SourceRequest& request) {
  const SourceSet set = load(split, request);
  const Shape one{request.options.integer("length")};
  return {set.store.size(),
          {{DType::f32, one, Labels("C"), {}}, {DType::i32, one, Labels("T"), {}}},
          set.classes,
          set.facts};
}

OptionValues look_text(const fs::path& folder) {
  std::error_code failure;
  if (fs::is_regular_file(folder, failure)) return {};
  for (const auto& name : folder_names(folder, failure))
    if (name.ends_with(".txt")) return {};
  throw missing_path(folder / "train.txt", "text file");
}

}  // namespace

SourceKind text_source() {
  constexpr double kMost = 1 << 24;
  return {
      .name = "text",
      .help =
          "a text, of which the token behind each token is learned: the file data.path, the files of that "
          "folder, or its files train.txt and test.txt",
      .targets = {{.name = "token", .kind = nn::OutputKind::position_scores}},
      .reads_folder = true,
      .files = "train.txt and test.txt, or texts of which a part tests",
      .options = {{.name = "length", .help = "tokens of a sample", .standard = int64_t{64}, .low = 1, .high = kMost},
                  {.name = "stride",
                   .help = "tokens from the start of a sample of the training set to that of the next; 0: length",
                   .standard = int64_t{0},
                   .high = kMost},
                  {.name = "tokens",
                   .help = "what a token is: a character of UTF-8, a byte, or one of a vocabulary of pairs",
                   .standard = std::string("characters"),
                   .choices = {"characters", "bytes", "pairs"}},
                  {.name = "vocabulary",
                   .help = "of pairs: a folder with vocab.json and merges.txt, or a tokenizer.json",
                   .standard = std::string(),
                   .changes_bits = false},
                  {.name = "test_part",
                   .help = "the part at the end of the text that tests, where there is no test.txt",
                   .standard = 0.1,
                   .low = 0,
                   .high = 0.9,
                   .above_low = true}},
      .size_keys = "data.length",
      .sample = [](const SourceRequest& request) { return Shape{request.options.integer("length")}; },
      .load = load,
      .description = description_of_text,
      .class_names = [](const SourceRequest& request) { return text_of(Split::train, request).text->names; },
      .look = look_text,
      .origin = [](Split, int, const SourceRequest& request) { return printable(request.path.string()); }};
}

}  // namespace retrace
