#pragma once
// Text as a sequence of tokens.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/option_values.h"
#include "retrace/data/pair_vocabulary.h"

namespace retrace {

enum class TokenKind {
  characters,  // code points of UTF-8
  bytes,       // 256 tokens, whatever the text holds
  pairs,       // of a vocabulary
};

// The name of a token: the character itself, but \n, \t, \r and \\ for those, \x7f for other control characters, and
// for bytes above 126. Names tell all tokens apart.
std::string token_name(std::string_view token);
// The token of that name.
std::string token_bytes(std::string_view name);

// What the tokens of a text are.
struct Tokens {
  TokenKind kind = TokenKind::characters;
  std::optional<PairVocabulary> vocabulary = {};  // of pairs
};

// As the options `tokens` and `vocabulary` of the source "text" say; reads the vocabulary. Errors: usage for pairs
// without a vocabulary; those of read_pair_vocabulary().
Tokens tokens_of(const OptionValues& options);

// Tokens by number, and a text as their numbers.
struct TokenText {
  std::vector<std::string> names;  // of all tokens; but those of a vocabulary, in the order of the tokens' bytes
  std::vector<uint16_t> numbers;   // of the text
};

// A file, or another piece of a text.
struct TextPiece {
  std::string name;  // for messages
  std::string bytes;
};

// The pieces, one behind the other. `known`: the names of the tokens that there are; none: those of the text. Errors:
// bad_data with name:line:column for what is no UTF-8 (of bytes, anything is), and for a character that is not known;
// bad_data for more than 65536 different characters, and for a vocabulary whose tokens are not those that are known.
TokenText token_text(const std::vector<TextPiece>& pieces, TokenKind kind, const std::vector<std::string>& known = {});
TokenText token_text(const std::vector<TextPiece>& pieces, const Tokens& tokens,
                     const std::vector<std::string>& known = {});

}  // namespace retrace
