#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/train/job_start.h"

namespace retrace::cli {
namespace {

struct InitOptions {
  std::filesystem::path file = "job.toml", data;
  std::string source, target, network;
  bool json = false, quiet = false;
};

void check_free(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) return;
  throw Error(ErrorKind::usage, 674, fmt::format("\"{}\" is there already", printable(file.string())))
      .help("give the new job another name: retrace init NAME.toml --data ...");
}

std::string made_text(const JobStart& made, const std::filesystem::path& file) {
  const std::string name = printable(file.string());
  return fmt::format("{}: {} samples of {}{}, read by the data source {}\ntrain it: retrace train {}\n", name,
                     made.samples, made.sample.text(),
                     made.classes > 0 ? fmt::format(" in {} classes", made.classes) : "", made.source, name);
}

Json json_of_init(const JobStart& made, const std::filesystem::path& file) {
  return Json::object({{"job", file.string()},
                       {"source", made.source},
                       {"samples", made.samples},
                       {"test_samples", made.test_samples},
                       {"sample", Json::list(std::vector<int64_t>(made.sample.begin(), made.sample.end()),
                                             [](int64_t size) { return Json(size); })},
                       {"classes", made.classes}});
}

int init(const InitOptions& options) {
  const bool show = options.file == "-";
  if (show && options.json) throw beside_json("the job");
  if (!show) check_free(options.file);
  const JobStart made = start_job({.data = options.data.string(),
                                   .source = options.source,
                                   .target = options.target,
                                   .network = options.network,
                                   .file = show ? "job.toml" : options.file.string()});
  if (show) {
    print(made.text);
    return 0;
  }
  write_file_whole(options.file, made.text);
  if (options.json)
    print(json_of_init(made, options.file).text() + "\n");
  else if (!options.quiet)
    print(made_text(made, options.file));
  return 0;
}

void describe_init(Flags& flags) {
  const auto options = std::make_shared<InitOptions>();
  flags.optional("FILE", options->file, "job file to write (job.toml), which must not be there; - is standard output");
  flags.required("--data", "DIR", options->data,
                 "folder of images in folders of classes, of CSV, NPY or IDX files, of texts, or of CIFAR-10; a text "
                 "(.txt), a table (.csv), arrays (.npz); "
                 "or the name of a built-in data set: digits, peaks",
                 "a folder with data, a text, a table, or the name of a built-in data set");
  flags.option("--source", "NAME", options->source,
               "the data source that reads the files, such as forecast for rows in the order of time; without it the "
               "one that finds its files there");
  flags.option(
      "--target", "NAME", options->target,
      "the column of a table that is learned; without it one that is called as targets are, else the last one");
  flags.option("--network", "NAME", options->network, "a built-in network; without it layers that fit the data");
  flags.flag("--json", options->json, "print what was found as one JSON object");
  flags.flag("--quiet", options->quiet, "print nothing but errors and warnings, and the object of --json");
  flags.action([options] { return init(*options); });
}

}  // namespace

CommandKind init_command() {
  return {.name = "init",
          .help = "write a job file to start from, by a look at a folder of data",
          .describe = describe_init};
}

}  // namespace retrace::cli
