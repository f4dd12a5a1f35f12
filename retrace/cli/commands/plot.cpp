#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/experiment/parallel_svg.h"
#include "retrace/experiment/study.h"
#include "retrace/monitor/png_picture.h"
#include "retrace/report/plot.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_storage.h"

namespace retrace::cli {
namespace {

struct PlotCommandOptions {
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

bool is_study(const std::filesystem::path& folder) { return std::filesystem::exists(study_path(folder)); }

std::string picture(const PlotCommandOptions& options, const std::vector<std::string>& names) {
  if (!is_study(options.run)) return plot_svg(options.run, names, options.log);
  if (options.log || options.metrics != "loss")
    throw Error(ErrorKind::usage, 790, "the picture of a study has no curves")
        .where(printable(options.run.string()))
        .help("leave --metric and --log out, or give a run of it: STUDY/trials/0001");
  return parallel_svg(read_trial_table(options.run));
}

int plot(const PlotCommandOptions& options) {
  const auto names = names_in(options.metrics);
  if (options.out == "-") {
    if (options.json) throw beside_json("the picture");
    print(picture(options, names));
    return 0;
  }
  check_ending(options.out);
  check_run_output(options.out, is_study(options.run) ? study_path(options.run) : options.run / "metrics.jsonl");
  const std::string svg = picture(options, names);
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

void describe_plot(Flags& flags) {
  const auto options = std::make_shared<PlotCommandOptions>();
  flags.argument("RUN", options->run, "run folder", "the run folder, or that of a study");
  flags.option("--metric", "NAMES", options->metrics,
               "what is drawn: loss, learn_rate, metrics of validations; several with commas");
  flags.option("--out", "FILE", options->out,
               "SVG or PNG file to write (plot.svg), by its ending; - is standard output, as SVG");
  flags.flag("--log", options->log, "logarithmic scale");
  flags.flag("--json", options->json, "print what was written as one JSON object");
  flags.flag("--quiet", options->quiet, "print nothing but errors and warnings, and the object of --json");
  flags.action([options] {
    if (!is_study(options->run)) options->run = run_on_disk(options->run);
    return plot(*options);
  });
}

}  // namespace

CommandKind plot_command() {
  return {.name = "plot",
          .help = "curves of a run, or the trials of a study, as a picture: SVG or PNG",
          .describe = describe_plot};
}

}  // namespace retrace::cli
