#pragma once
// Text as a sequence of tokens.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

enum class TokenKind {
  characters,  // code points of UTF-8
  bytes,       // 256 tokens, whatever the text holds
};

// The name of a token: the character itself, but \n, \t, \r and \\ for those, \x7f for other control characters, and
// for bytes above 126. Names tell all tokens apart.
std::string token_name(std::string_view token);
// The token of that name.
std::string token_bytes(std::string_view name);

// Tokens by number, and a text as their numbers.
struct TokenText {
  std::vector<std::string> names;  // of all tokens, in the order of the tokens' bytes
  std::vector<uint16_t> numbers;   // of the text
};

// A file, or another piece of a text.
struct TextPiece {
  std::string name;  // for messages
  std::string bytes;
};

// The pieces, one behind the other. `known`: the names of the tokens that there are; none: those of the text. Errors:
// bad_data with name:line:column for what is no UTF-8, and for a character that is not known; bad_data for more than
// 65536 different characters.
TokenText token_text(const std::vector<TextPiece>& pieces, TokenKind kind, const std::vector<std::string>& known = {});

}  // namespace retrace
