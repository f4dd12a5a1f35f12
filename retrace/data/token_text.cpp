#include "retrace/data/token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "retrace/base/file.h"

namespace retrace {
namespace {

constexpr size_t kMostTokens = 65'536;  // that a uint16_t tells apart

unsigned byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// "poem.txt:3:14", in lines and bytes from 1.
std::string place_of(const TextPiece& piece, size_t at) {
  const std::string_view before = std::string_view(piece.bytes).substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t end = before.rfind('\n');
  return fmt::format("{}:{}:{}", printable(piece.name), line, at - (end == std::string_view::npos ? 0 : end + 1) + 1);
}

std::string_view token_at(const TextPiece& piece, size_t at, TokenKind kind) {
  const std::string_view rest = std::string_view(piece.bytes).substr(at);
  const size_t count = kind == TokenKind::bytes ? 1 : utf8_length(rest);
  if (count > 0) return rest.substr(0, count);
  throw Error(ErrorKind::bad_data, 389, "the text is no UTF-8")
      .where(place_of(piece, at))
      .got(fmt::format("the byte {:#04x}", byte_at(piece.bytes, at)))
      .help("convert the file (iconv -t UTF-8), or take its bytes as tokens: in a job data.tokens = \"bytes\"");
}

template <class F>
void for_each_token(const std::vector<TextPiece>& pieces, TokenKind kind, const F& f) {
  for (const auto& piece : pieces)
    for (size_t at = 0; at < piece.bytes.size();) {
      const std::string_view token = token_at(piece, at, kind);
      f(token, piece, at);
      at += token.size();
    }
}

std::vector<std::string> names_of(const std::vector<TextPiece>& pieces, TokenKind kind) {
  std::set<std::string, std::less<>> tokens;
  if (kind == TokenKind::bytes)
    for (int byte = 0; byte < 256; ++byte) tokens.insert(std::string(1, static_cast<char>(byte)));
  else
    for_each_token(pieces, kind, [&](std::string_view token, const TextPiece&, size_t) {
      if (!tokens.contains(token)) tokens.emplace(token);
    });
  if (tokens.size() > kMostTokens)
    throw Error(ErrorKind::bad_data, 237, fmt::format("the text has {} different characters", tokens.size()))
        .expected(fmt::format("at most {}", kMostTokens))
        .help("take its bytes as tokens: in a job data.tokens = \"bytes\"");
  std::vector<std::string> names;
  for (const auto& token : tokens) names.push_back(token_name(token));
  return names;
}

Error unknown(std::string_view token, const TextPiece& piece, size_t at, size_t count) {
  return Error(ErrorKind::bad_data, 399, fmt::format("the character \"{}\" is not known", token_name(token)))
      .where(place_of(piece, at))
      .expected(fmt::format("one of the {} characters of the training", count))
      .help("take it out, or train with bytes as tokens: in a job data.tokens = \"bytes\"");
}

TokenText pair_text(const std::vector<TextPiece>& pieces, const PairVocabulary& vocabulary,
                    const std::vector<std::string>& known) {
  if (!known.empty() && known != vocabulary.names())
    throw Error(ErrorKind::bad_data, 294, "the vocabulary is not that of the training")
        .where(printable(vocabulary.files()[0]))
        .got(fmt::format("{} tokens", vocabulary.names().size()))
        .expected(fmt::format("the {} tokens of the training, in their order", known.size()))
        .help("set data.vocabulary to the files of the training");
  for_each_token(pieces, TokenKind::characters, [](std::string_view, const TextPiece&, size_t) {});  // is it UTF-8?
  TokenText text{vocabulary.names(), {}};
  for (const auto& piece : pieces) vocabulary.encode(piece.bytes, text.numbers);
  return text;
}

}  // namespace

Tokens tokens_of(const OptionValues& options) {
  const std::string kind = options.text("tokens"), path = options.text("vocabulary");
  if (kind != "pairs") return {kind == "bytes" ? TokenKind::bytes : TokenKind::characters, {}};
  if (path.empty())
    throw Error(ErrorKind::usage, 290, "tokens by pairs need a vocabulary")
        .got("data.tokens = \"pairs\", without data.vocabulary")
        .expected("the path of a folder with vocab.json and merges.txt, or of a tokenizer.json")
        .help("set data.vocabulary");
  return {TokenKind::pairs, read_pair_vocabulary(path)};
}

std::string token_name(std::string_view token) {
  switch (token[0]) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    case '\\': return "\\\\";
    default: break;
  }
  const std::string name(token);
  if (printable(name) == name) return name;
  std::string escaped;
  for (size_t i = 0; i < token.size(); ++i) escaped += fmt::format("\\x{:02x}", byte_at(token, i));
  return escaped;
}

std::string token_bytes(std::string_view name) {
  std::string bytes;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '\\' || i + 1 == name.size()) {
      bytes += name[i];
      continue;
    }
    switch (const char kind = name[++i]) {
      case 'n': bytes += '\n'; break;
      case 't': bytes += '\t'; break;
      case 'r': bytes += '\r'; break;
      case 'x': {
        unsigned byte = 0;
        std::from_chars(name.data() + i + 1, name.data() + std::min(i + 3, name.size()), byte, 16);
        bytes += static_cast<char>(byte);
        i += 2;
        break;
      }
      default: bytes += kind;
    }
  }
  return bytes;
}

TokenText token_text(const std::vector<TextPiece>& pieces, TokenKind kind, const std::vector<std::string>& known) {
  TokenText text{known.empty() ? names_of(pieces, kind) : known, {}};
  std::map<std::string, uint16_t, std::less<>> numbers;  // by name
  for (size_t i = 0; i < text.names.size(); ++i) numbers.emplace(text.names[i], static_cast<uint16_t>(i));
  std::map<std::string, uint16_t, std::less<>> met;  // by token
  for_each_token(pieces, kind, [&](std::string_view token, const TextPiece& piece, size_t at) {
    auto found = met.find(token);
    if (found == met.end()) {
      const auto number = numbers.find(token_name(token));
      if (number == numbers.end()) throw unknown(token, piece, at, text.names.size());
      found = met.emplace(token, number->second).first;
    }
    text.numbers.push_back(found->second);
  });
  return text;
}

TokenText token_text(const std::vector<TextPiece>& pieces, const Tokens& tokens,
                     const std::vector<std::string>& known) {
  return tokens.vocabulary ? pair_text(pieces, *tokens.vocabulary, known) : token_text(pieces, tokens.kind, known);
}

}  // namespace retrace
