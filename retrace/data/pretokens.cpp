#include "retrace/data/pretokens.h"

#include "retrace/base/file.h"
#include "retrace/data/character_kinds.h"

namespace retrace {
namespace {

struct Character {
  size_t length;
  CharacterKind kind;
};

// The first one of a text that is not empty.
Character first_of(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {1, character_kind(byte(0))};
  const size_t length = utf8_length(text);
  if (length < 2) return {1, CharacterKind::other};
  char32_t character = byte(0) & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) character = character << 6 | (byte(i) & 0x3fu);
  return {length, character_kind(character)};
}

size_t ending_length(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

// Of all spaces in front, but the last one where a word follows, which may take it; one at least.
size_t spaces_length(std::string_view text) {
  size_t end = 0, last = 0;
  while (end < text.size()) {
    const Character next = first_of(text.substr(end));
    if (next.kind != CharacterKind::space) break;
    last = next.length, end += next.length;
  }
  return end == text.size() || end == last ? end : end - last;
}

}  // namespace

size_t pretoken_length(std::string_view text) {
  if (const size_t ending = ending_length(text)) return ending;
  size_t end = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  const CharacterKind kind = first_of(text.substr(end)).kind;
  if (kind == CharacterKind::space) return spaces_length(text);
  while (end < text.size()) {
    const Character next = first_of(text.substr(end));
    if (next.kind != kind) break;
    end += next.length;
  }
  return end;
}

}  // namespace retrace
