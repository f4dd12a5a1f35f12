#pragma once
// What is said in series: sequences of tokens.

#include <cstdint>
#include <string>
#include <vector>

namespace retrace {

// The name of class 0, which says nothing.
inline constexpr const char* kBlankName = "<blank>";

// A text, and where it stands.
struct Transcript {
  std::string text, where;
};

// The names of the tokens of these texts, the blank first: characters of UTF-8 in the order of their bytes, with the
// names of token_name(), or words, which are separated by blanks. Errors: bad_data for what is no UTF-8.
std::vector<std::string> tokens_of_transcripts(const std::vector<Transcript>& transcripts, bool words);

// The numbers of the tokens of a text among these names, from 1 on. Errors: bad_data for a token that is none of them.
std::vector<int32_t> numbers_of_transcript(const Transcript& transcript, const std::vector<std::string>& names,
                                           bool words);

// The text that tokens of these names say.
std::string text_of_tokens(const std::vector<std::string>& names, bool words);

// The least number of positions that can say these tokens: one for each, and one between two that are equal.
int64_t least_positions(const std::vector<int32_t>& tokens);

}  // namespace retrace
