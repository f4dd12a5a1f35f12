#pragma once
// Texts of different lengths as a store.

#include <cstdint>
#include <string>
#include <vector>

#include "retrace/data/datastore.h"

namespace retrace {

// A text and the class that it belongs to.
struct LabelledTokens {
  std::vector<int32_t> tokens;  // from 1 on
  int32_t number = 0;           // of the class
};

// A store of texts: the numbers of the first `length` tokens, f32[length] "C", with zeros behind a text that has fewer,
// and the number of the class, i32[]. `files`: those that the texts were read from.
Datastore padded_texts(std::vector<LabelledTokens> texts, int64_t length, std::vector<std::string> files = {});

}  // namespace retrace
