#pragma once
// A look at a TOML text before it is parsed; used by job_toml.cpp.

#include <string_view>

namespace retrace {

constexpr int kMaxKeyParts = 32;   // of one dotted key
constexpr int kMaxBrackets = 32;   // lists and inline tables in each other
constexpr int kMaxKeys = 100'000;  // parts of all keys, and items of lists

// Throws Error(usage), with line and column, for a text whose keys have more parts, whose brackets lie deeper, or which
// has more keys and items: the parser would take memory and stack in proportion. Texts in quotes and comments do not
// count.
void check_toml_depth(std::string_view text, std::string_view file);

}  // namespace retrace
