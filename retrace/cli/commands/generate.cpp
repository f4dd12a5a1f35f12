#include <fmt/format.h>

#include <charconv>

#include "retrace/base/file.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/train/generate_text.h"
#include "retrace/train/run_storage.h"

namespace retrace::cli {
namespace {

struct Texts {
  std::filesystem::path run;
  std::string start = "\n", count = "500", temperature = "1", seed = "1";
};

template <class Number>
Number number_of_generate(const char* flag, const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, number); read.ec == std::errc() && read.ptr == end)
    return number;
  throw Error(ErrorKind::usage, 738, fmt::format("{} is no number", flag))
      .where(flag)
      .got(printable(text))
      .expected(std::is_integral_v<Number> ? "a whole number, such as 500" : "a number, such as 0.8");
}

int generate(const Texts& texts) {
  const GenerateOptions options{.start = texts.start,
                                .count = number_of_generate<int64_t>("--count", texts.count),
                                .temperature = number_of_generate<double>("--temperature", texts.temperature),
                                .seed = number_of_generate<uint64_t>("--seed", texts.seed)};
  generate_text(texts.run, options, [](const std::string& bytes) { print(bytes); });
  print("\n");
  return 0;
}

void describe_generate(Flags& flags) {
  const auto texts = std::make_shared<Texts>();
  flags.argument("RUN", texts->run, "run folder", "the run folder of a training on text");
  flags.option("--start", "TEXT", texts->start, "what the text begins with (a line end)");
  flags.option("--count", "N", texts->count, "tokens to add: characters, bytes or pairs (500)");
  flags.option("--temperature", "T", texts->temperature, "below 1 likely ones get likelier; 0: the likeliest (1)");
  flags.option("--seed", "N", texts->seed, "another seed, another text (1)");
  flags.action([texts] {
    texts->run = run_on_disk(texts->run);
    return generate(*texts);
  });
}

}  // namespace

CommandKind generate_command() {
  return {.name = "generate",
          .help = "a text that goes on from a few characters, by a run that was trained on text",
          .describe = describe_generate};
}

}  // namespace retrace::cli
