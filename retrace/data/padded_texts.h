#pragma once
// Texts of different lengths as a store.

#include <cstdint>
#include <string>
#include <vector>

#include "retrace/base/option_rules.h"
#include "retrace/data/datastore.h"
#include "retrace/data/token_text.h"

namespace retrace {

// A text and the class that it belongs to.
struct LabelledTokens {
  std::vector<int32_t> tokens;  // from 1 on
  int32_t number = 0;           // of the class
};

// The options of sources of such texts: length, tokens and vocabulary.
std::vector<OptionRule> padded_text_rules();

// The numbers of the first `length` tokens of a text, from 1 on: a byte has its value + 1. Errors: bad_data for an
// empty text and, for pairs, for what is no UTF-8.
std::vector<int32_t> padded_tokens(const TextPiece& piece, const Tokens& tokens, int64_t length);

// A store of texts: the numbers of the first `length` tokens, f32[length] "C", with zeros behind a text that has fewer,
// and the number of the class, i32[]. `files`: those that the texts were read from.
Datastore padded_texts(std::vector<LabelledTokens> texts, int64_t length, std::vector<std::string> files = {});

}  // namespace retrace
