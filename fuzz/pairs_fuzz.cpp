// Any bytes, cut in three at the first two zeros: a vocabulary of pairs that cuts any text into tokens that say it, or
// Error(bad_data).

#include <algorithm>
#include <cstdint>

#include "retrace/base/error.h"
#include "retrace/data/pair_vocabulary.h"
#include "retrace/data/token_text.h"

namespace {

void check(const retrace::PairVocabulary& pairs, std::string_view text) {
  std::vector<uint16_t> numbers;
  pairs.encode(text, numbers);
  std::string back;
  for (const uint16_t number : numbers) back += retrace::token_bytes(pairs.names().at(number));
  retrace::ensure(back == text, "tokens say the text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  std::string_view parts[3], rest(reinterpret_cast<const char*>(data), size);
  for (auto& part : parts) {
    part = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  try {
    check(PairVocabulary::parse(parts[0], parts[1], "input"), parts[2]);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) throw;
  }
  try {
    check(PairVocabulary::parse_tokenizer(parts[0], "input"), parts[2]);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) throw;
  }
  return 0;
}
