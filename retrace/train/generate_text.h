#pragma once
// A text that goes on, by the network of a run on texts.

#include <cstdint>
#include <filesystem>
#include <string>

#include "retrace/base/function_ref.h"

namespace retrace {

// Options of generate_text.
struct GenerateOptions {
  std::string start = "\n";  // what the text begins with
  int64_t count = 500;       // of tokens that follow
  double temperature = 1;    // below 1 likely tokens get likelier; 0: always the likeliest one
  uint64_t seed = 1;
};

// Draws one token after another and hands the bytes of each to `write`, after those of `start`. From the scores p of
// the network behind the last data.length tokens (fewer at first), the next one is drawn with the probabilities
// softmax(log(p) / temperature): token k is the first, in the order of their numbers, at which the sum of probabilities
// in f64 is above u[k] times the sum of all, with u = uniform({count}) of the key seed split by "generate". Temperature
// 0: the token of the highest score, the first of equal ones. The same text for any number of threads. Errors: usage
// for options out of range, an empty start, and a run that was not trained on text; those of token_text() and
// predict_run().
void generate_text(const std::filesystem::path& run, const GenerateOptions& options,
                   FunctionRef<void(const std::string& bytes)> write);

}  // namespace retrace
