
#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/data/source_kind.h"

namespace retrace::cli {
namespace {

struct DataOptions {
  std::filesystem::path out;
  bool json = false, quiet = false;
};

int write(const SourceKind& source, const DataOptions& options) {
  const std::string text = source.write(options.out);
  if (options.json)
    print(Json::object({{"source", source.name}, {"out", options.out.string()}}).text() + "\n");
  else if (!options.quiet)
    print(text);
  return 0;
}

void describe_data(Flags& flags) {
  for (const auto& source : all_sources()) {
    if (!source.write) continue;
    Flags own = flags.subcommand(source.name, source.written);
    const auto options = std::make_shared<DataOptions>();
    own.required("--out", "DIR", options->out, "folder to write into", "the folder to write into");
    own.flag("--json", options->json, "print what was written as one JSON object");
    own.flag("--quiet", options->quiet, "print nothing but errors and warnings");
    own.action([&source, options] { return write(source, *options); });
  }
}

}  // namespace

CommandKind data_command() { return {.name = "data", .help = "write a built-in data set", .describe = describe_data}; }

}  // namespace retrace::cli
