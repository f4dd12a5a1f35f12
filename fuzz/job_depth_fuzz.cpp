// Job files with depth, made from the input: dotted keys, sections, inline tables, lists, texts in quotes and comments,
// nested and repeated. Each is refused with an Error, in bounded memory and stack, or is a job that reads back.

#include <algorithm>
#include <string>

#include "retrace/base/error.h"
#include "retrace/train/job.h"

namespace {

using namespace retrace;

// Each pair of bytes is a piece of text and how often it stands there: 2^0 .. 2^15 times.
std::string text_of(const uint8_t* data, size_t size) {
  static const char* const pieces[] = {"a.",
                                       ".",
                                       "\"a\".",
                                       "'a' . ",
                                       "[a",
                                       "]",
                                       "[[",
                                       "]]\n",
                                       "{a=",
                                       "}",
                                       "[",
                                       ",",
                                       "\n",
                                       "=",
                                       "= 1\n",
                                       "\"",
                                       "'",
                                       "\"\"\"",
                                       "'''",
                                       "\\",
                                       "# .[",
                                       "a",
                                       "1",
                                       "\"\\\"",
                                       ". ",
                                       "[network]\n",
                                       "name='digits'\n",
                                       "[data]\n",
                                       "[training]\n",
                                       "network.",
                                       "max_epochs",
                                       " "};
  constexpr size_t kMost = 1 << 20;
  std::string text;
  for (size_t i = 0; i + 1 < size && text.size() < kMost; i += 2) {
    const std::string piece = pieces[data[i] % std::size(pieces)];
    for (int n = 1 << data[i + 1] % 16; n > 0 && text.size() < kMost; --n) text += piece;
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string text = job_text(parse_job(text_of(data, size), "fuzz.toml"));
    try {
      if (job_text(parse_job(text, "again.toml")) != text) __builtin_trap();
    } catch (const Error&) {
      __builtin_trap();
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) __builtin_trap();
    if (std::string(error.what()).size() > 100'000) __builtin_trap();
  }
  return 0;
}
