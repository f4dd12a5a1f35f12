#pragma once
// Small vocabularies of pairs for tests, as the files of GPT-2 write them.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "retrace/base/json.h"

namespace retrace {

// The characters that stand for bytes, in the order of GPT-2's own file: printable ones first.
inline std::vector<std::string> characters_of_bytes() {
  std::vector<std::string> made;
  const auto add = [&](int character) {
    std::string text(1, static_cast<char>(character));
    if (character >= 0x80)
      text = {static_cast<char>(0xc0 | character >> 6), static_cast<char>(0x80 | (character & 0x3f))};
    made.push_back(text);
  };
  for (int c = '!'; c <= '~'; ++c) add(c);
  for (int c = 0xa1; c <= 0xac; ++c) add(c);
  for (int c = 0xae; c <= 0xff; ++c) add(c);
  for (int c = 0x100; c < 0x144; ++c) add(c);
  return made;
}

// vocab.json of all bytes and what the merges make.
inline std::string vocabulary_tokens(const std::vector<std::string>& merges) {
  std::vector<std::string> tokens = characters_of_bytes();
  for (std::string merge : merges) tokens.push_back(merge.erase(merge.find(' '), 1));
  std::string text = "{";
  for (size_t i = 0; i < tokens.size(); ++i) text += fmt::format("{}{}: {}", i ? ", " : "", Json(tokens[i]).text(), i);
  return text + "}";
}

// merges.txt.
inline std::string vocabulary_merges(const std::vector<std::string>& merges) {
  std::string text = "#version: 0.2\n";
  for (const auto& merge : merges) text += merge + "\n";
  return text;
}

}  // namespace retrace
