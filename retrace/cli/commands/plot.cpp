#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/monitor/png_picture.h"
#include "retrace/report/plot.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_storage.h"

namespace retrace::cli {
namespace {

struct CommandOptions {
  std::filesystem::path run, out = "plot.svg";
  std::string metrics = "loss";
  bool log = false, json = false, quiet = false;
};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

bool is_png(const std::filesystem::path& out) { return out.extension() == ".png"; }

void check_ending(const std::filesystem::path& out) {
  if (out.extension() == ".svg" || is_png(out)) return;
  const std::string svg = printable(std::filesystem::path(out).replace_extension(".svg").string());
  throw Error(ErrorKind::usage, 677,
              fmt::format("plots are SVG or PNG files, and \"{}\" is none", printable(out.string())))
      .help(fmt::format("give --out {}", svg));
}

int plot(const CommandOptions& options) {
  const auto names = names_in(options.metrics);
  if (options.out == "-") {
    if (options.json) throw beside_json("the picture");
    print(plot_svg(options.run, names, options.log));
    return 0;
  }
  check_ending(options.out);
  check_run_output(options.out, options.run / "metrics.jsonl");
  const std::string svg = plot_svg(options.run, names, options.log);
  write_file_whole(options.out, is_png(options.out) ? png_picture(svg) : svg);
  if (options.json)
    print(Json::object({{"metrics", Json::list(names, [](const std::string& name) { return Json(name); })},
                        {"out", options.out.string()}})
              .text() +
          "\n");
  else if (!options.quiet)
    print(printable(options.out.string()) + "\n");
  return 0;
}

void describe(Flags& flags) {
  const auto options = std::make_shared<CommandOptions>();
  flags.argument("RUN", options->run, "run folder", "the run folder");
  flags.option("--metric", "NAMES", options->metrics,
               "what is drawn: loss, learn_rate, metrics of validations; several with commas");
  flags.option("--out", "FILE", options->out,
               "SVG or PNG file to write (plot.svg), by its ending; - is standard output, as SVG");
  flags.flag("--log", options->log, "logarithmic scale");
  flags.flag("--json", options->json, "print what was written as one JSON object");
  flags.flag("--quiet", options->quiet, "print nothing but errors, and the object of --json");
  flags.action([options] {
    options->run = run_on_disk(options->run);
    return plot(*options);
  });
}

}  // namespace

CommandKind plot_command() {
  return {.name = "plot", .help = "curves of a run as a picture, SVG or PNG", .describe = describe};
}

}  // namespace retrace::cli
