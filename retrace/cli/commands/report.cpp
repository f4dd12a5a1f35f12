#include "retrace/report/report.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/train/run_storage.h"

namespace retrace::cli {
namespace {

struct ReportCommandOptions {
  std::filesystem::path run, out;
  bool fast = false, json = false, quiet = false;
};

int report(const ReportCommandOptions& options) {
  const ReportOptions what{.measure = !options.fast};
  if (options.out == "-") {
    if (options.json) throw beside_json("the page");
    print(report_html(options.run, what));
    return 0;
  }
  const auto path = write_report(options.run, options.out, what);
  if (options.json)
    print(Json::object({{"run_dir", options.run.string()}, {"out", path.string()}}).text() + "\n");
  else if (!options.quiet)
    print(fmt::format("{}: open it in a browser\n", printable(path.string())));
  return 0;
}

void describe_report(Flags& flags) {
  const auto options = std::make_shared<ReportCommandOptions>();
  flags.argument("RUN", options->run, "run folder", "the run folder");
  flags.option("--out", "FILE", options->out, "HTML file to write (RUN/report.html); - is standard output");
  flags.flag("--fast", options->fast,
             "read neither weights nor data: no samples, and the confusion matrix that is stored");
  flags.flag("--json", options->json, "print what was written as one JSON object");
  flags.flag("--quiet", options->quiet, "print nothing but errors and warnings, and the object of --json");
  flags.action([options] {
    options->run = run_on_disk(options->run);
    return report(*options);
  });
}

}  // namespace

CommandKind report_command() {
  return {.name = "report",
          .help = "one page of a run: curves, confusion matrix, samples, job",
          .describe = describe_report};
}

}  // namespace retrace::cli
