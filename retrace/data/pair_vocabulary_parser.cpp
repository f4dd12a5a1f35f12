#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/json_value.h"
#include "retrace/data/pair_vocabulary.h"
#include "retrace/data/token_text.h"

namespace retrace {
namespace {

constexpr size_t kMostTokens = 65'536;  // that a uint16_t tells apart
constexpr uint64_t kFileLimit = uint64_t{1} << 26;

// The bytes that stand for themselves in the text of a token; the others are the characters from 256 on, in order.
bool is_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
}

// The byte of each of the characters 0 to 323; -1: of none.
std::vector<int> byte_of_characters() {
  std::vector<int> bytes(324, -1);
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) bytes[static_cast<size_t>(is_itself(byte) ? byte : next++)] = byte;
  return bytes;
}

// The bytes of a token as files write it; nothing where it has another character.
std::optional<std::string> bytes_of(std::string_view token) {
  static const std::vector<int> bytes = byte_of_characters();
  std::string made;
  for (size_t at = 0; at < token.size();) {
    const size_t length = utf8_length(token.substr(at));
    const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(token[at + i])); };
    if (length != 1 && length != 2) return {};
    const size_t character = length == 1 ? byte(0) : (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    if (character >= bytes.size() || bytes[character] < 0) return {};
    made += static_cast<char>(bytes[character]);
    at += length;
  }
  return made;
}

// token_name() of a token of several characters, or of parts of them.
std::string name_of(std::string_view bytes) {
  std::string name;
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = std::max<size_t>(utf8_length(bytes.substr(at)), 1);
    name += token_name(bytes.substr(at, length));
    at += length;
  }
  return name;
}

Error broken(const std::string& where, const std::string& what, const std::string& got) {
  return Error(ErrorKind::bad_data, 293, "the vocabulary " + what)
      .where(printable(where))
      .got(printable(got))
      .expected("vocab.json and merges.txt of GPT-2, or a tokenizer.json like them: BPE of bytes")
      .help("take the files as they were published");
}

}  // namespace

class PairVocabularyParser {
 public:
  explicit PairVocabularyParser(const std::string& where) : where_(where) {}

  void take_tokens(const JsonValue* tokens) {
    if (!tokens || !tokens->members()) throw broken(where_, "has no tokens", "no object of tokens and numbers");
    for (const auto& [text, number] : *tokens->members()) {
      const auto bytes = bytes_of(text);
      if (!bytes || bytes->empty()) throw broken(where_, "has a token that is not made of bytes", text);
      if (!numbers_.emplace(text, place(number.integer(), name_of(*bytes), text)).second)
        throw broken(where_, "has a token twice", text);
    }
  }

  // Those that stand beside the model: as they are, and never made by merges.
  void take_added(const JsonValue* tokens) {
    if (!tokens || !tokens->list()) return;
    for (const auto& token : *tokens->list()) {
      const JsonValue *content = token.find("content"), *number = token.find("id");
      const std::string* const text = content ? content->string() : nullptr;
      if (!text || text->empty() || !number) throw broken(where_, "has an added token without a text", token.text());
      const auto known = numbers_.find(*text);
      if (known != numbers_.end() && number->integer() == known->second) continue;
      place(number->integer(), name_of(*text), *text);
    }
  }

  void take_merge(std::string_view left, std::string_view right) {
    const std::string text = fmt::format("{} {}", left, right);
    const auto number = [&](const std::string& token) {
      const auto found = numbers_.find(token);
      if (found == numbers_.end()) throw broken(where_, "has a merge of what is no token", text);
      return found->second;
    };
    const uint16_t a = number(std::string(left)), b = number(std::string(right));
    const uint16_t made = number(std::string(left) + std::string(right));
    const auto rank = static_cast<uint32_t>(made_.merges_.size());
    if (!made_.merges_.emplace(static_cast<uint32_t>(a) << 16 | b, PairVocabulary::Merge{rank, made}).second)
      throw broken(where_, "has a merge twice", text);
  }

  // "left right", with one space.
  void take_merge(std::string_view line) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
      throw broken(where_, "has a merge that is not one of two tokens", std::string(line.substr(0, 100)));
    take_merge(line.substr(0, space), line.substr(space + 1));
  }

  PairVocabulary finish() {
    std::set<std::string_view> names;
    for (size_t i = 0; i < made_.names_.size(); ++i) {
      if (made_.names_[i].empty()) throw broken(where_, fmt::format("has no token {}", i), "a gap in the numbers");
      if (!names.insert(made_.names_[i]).second) throw broken(where_, "has a token twice", made_.names_[i]);
    }
    const std::vector<int> bytes = byte_of_characters();
    for (size_t character = 0; character < bytes.size(); ++character) {
      if (bytes[character] < 0) continue;
      std::string text(1, static_cast<char>(character));
      if (character >= 0x80)
        text = {static_cast<char>(0xc0 | character >> 6), static_cast<char>(0x80 | (character & 0x3f))};
      const auto found = numbers_.find(text);
      if (found == numbers_.end())
        throw broken(where_, "does not have all bytes", fmt::format("none for {:#04x}", bytes[character]));
      made_.of_byte_[bytes[character]] = found->second;
    }
    return std::move(made_);
  }

 private:
  uint16_t place(const std::optional<int64_t>& number, std::string name, const std::string& text) {
    if (!number || *number < 0 || *number >= static_cast<int64_t>(kMostTokens))
      throw broken(where_, fmt::format("has a token whose number is not 0 to {}", kMostTokens - 1), text);
    const auto i = static_cast<size_t>(*number);
    if (i >= made_.names_.size()) made_.names_.resize(i + 1);
    if (!made_.names_[i].empty()) throw broken(where_, fmt::format("has two tokens {}", i), text);
    made_.names_[i] = std::move(name);
    return static_cast<uint16_t>(i);
  }

  const std::string& where_;
  PairVocabulary made_;
  std::unordered_map<std::string, uint16_t> numbers_;  // of tokens as files write them
};

PairVocabulary PairVocabulary::parse(std::string_view tokens, std::string_view merges, const std::string& where) {
  PairVocabularyParser parser(where);
  const auto read = JsonValue::parse(tokens);
  parser.take_tokens(read ? &*read : nullptr);
  for (bool first = true; !merges.empty(); first = false) {
    std::string_view line = merges.substr(0, merges.find('\n'));
    merges.remove_prefix(std::min(merges.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !(first && line.starts_with("#version"))) parser.take_merge(line);
  }
  return parser.finish();
}

PairVocabulary PairVocabulary::parse_tokenizer(std::string_view text, const std::string& where) {
  const auto read = JsonValue::parse(text);
  const JsonValue none;
  const auto member = [&](const JsonValue& of, std::string_view name) -> const JsonValue& {
    const JsonValue* const found = of.find(name);
    return found ? *found : none;
  };
  const JsonValue& all = read ? *read : none;
  const JsonValue &model = member(all, "model"), &words = member(all, "pre_tokenizer");
  if (model.string_or("type", "") != "BPE") throw broken(where, "is no BPE", "model " + member(model, "type").text());
  const bool of_bytes = words.string_or("type", "") == "ByteLevel" && !words.boolean_or("add_prefix_space", true) &&
                        words.boolean_or("use_regex", true) && member(all, "normalizer").is_null();
  const bool plain = !model.boolean_or("ignore_merges", false) && !model.boolean_or("byte_fallback", false) &&
                     model.string_or("continuing_subword_prefix", "").empty() &&
                     model.string_or("end_of_word_suffix", "").empty();
  if (!of_bytes || !plain)
    throw broken(where, "does not cut words as GPT-2 does", "pre_tokenizer " + words.text().substr(0, 200));
  PairVocabularyParser parser(where);
  parser.take_tokens(&member(model, "vocab"));
  const JsonValue::List* const merges = member(model, "merges").list();
  if (!merges) throw broken(where, "has no merges", "no list model.merges");
  for (const JsonValue& merge : *merges) {
    const JsonValue::List* const two = merge.list();
    if (two && two->size() == 2 && (*two)[0].string() && (*two)[1].string())
      parser.take_merge(*(*two)[0].string(), *(*two)[1].string());
    else
      parser.take_merge(merge.string() ? *merge.string() : std::string());
  }
  parser.take_added(&member(all, "added_tokens"));
  return parser.finish();
}

PairVocabulary read_pair_vocabulary(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto is_file = [&](const std::filesystem::path& file) {
    return std::filesystem::is_regular_file(file, ignored);
  };
  const auto read = [&](const std::filesystem::path& file) { return read_file(file, "vocabulary file", kFileLimit); };
  if (std::filesystem::is_directory(path, ignored) &&
      (is_file(path / "vocab.json") || !is_file(path / "tokenizer.json"))) {
    const auto tokens = path / "vocab.json", merges = path / "merges.txt";
    PairVocabulary made = PairVocabulary::parse(read(tokens), read(merges), path.string());
    made.files_ = {tokens.string(), merges.string()};
    return made;
  }
  const auto file = std::filesystem::is_directory(path, ignored) ? path / "tokenizer.json" : path;
  PairVocabulary made = PairVocabulary::parse_tokenizer(read(file), file.string());
  made.files_ = {file.string()};
  return made;
}

}  // namespace retrace
