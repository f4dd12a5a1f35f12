#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/data/source_kind.h"

namespace retrace::cli {
namespace {

void describe(Flags& flags) {
  for (const auto& source : all_sources()) {
    if (!source.write) continue;
    Flags own = flags.subcommand(source.name, source.written);
    const auto out = std::make_shared<std::filesystem::path>();
    own.required("--out", "DIR", *out, "folder to write into", "the folder to write into");
    own.action([&source, out] {
      print(source.write(*out));
      return 0;
    });
  }
}

}  // namespace

CommandKind data_command() { return {.name = "data", .help = "write a built-in data set", .describe = describe}; }

}  // namespace retrace::cli
