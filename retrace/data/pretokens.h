#pragma once
// Words of a text, as byte-level vocabularies of pairs cut it.

#include <cstddef>
#include <string_view>

namespace retrace {

// The length in bytes of the first word of a text in UTF-8 that is not empty, by the pattern of GPT-2:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// What is no UTF-8 counts as characters of one byte that are neither letter, number nor space.
size_t pretoken_length(std::string_view text);

}  // namespace retrace
