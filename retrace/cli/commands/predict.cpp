#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/train/run_storage.h"
#include "retrace/train/train_job.h"

namespace retrace::cli {
namespace {

struct PredictOptions {
  std::filesystem::path run, input, out;  // out: empty: "out.csv", or the folder "out"
  bool json = false, quiet = false;
};

// Images, as files of a folder.
int predict_images(const PredictOptions& options) {
  const std::filesystem::path folder = options.out.empty() ? "out" : options.out;
  if (folder == "-")
    throw Error(ErrorKind::usage, 576, "images cannot be written to standard output")
        .help("name a folder for them: --out images");
  const int64_t files = predict_run_images(options.run, options.input, folder);
  if (options.json)
    print(Json::object({{"files", files}, {"out", folder.string()}}).text() + "\n");
  else if (!options.quiet)
    print(fmt::format("{} images in {}\n", files, printable(folder.string())));
  return 0;
}

int predict_table(const PredictOptions& options) {
  if (options.out == "-" || is_standard_output(options.out)) {
    if (options.json) throw beside_json("the rows");
    print(predict_run(options.run, options.input).csv);
    return 0;
  }
  const int64_t rows = predict_run(options.run, options.input, options.out);
  if (options.json)
    print(Json::object({{"rows", rows}, {"out", options.out.string()}}).text() + "\n");
  else if (!options.quiet)
    print(fmt::format("{} rows in {}\n", rows, printable(options.out.string())));
  return 0;
}

void describe_predict(Flags& flags) {
  const auto options = std::make_shared<PredictOptions>();
  flags.argument("RUN", options->run, "run folder", "the run folder");
  flags.required(
      "--input", "PATH", options->input,
      "a CSV, NPY or NPZ file; images: an IDX file, gzip or not; a JPEG or PNG file; a folder of them; a path with "
      "* and ?; texts: a .txt file, a folder of them",
      "a file, or a folder of images or texts");
  flags.option("--out", "FILE", options->out,
               "CSV file to write (out.csv), - is standard output; of networks that make images: a folder (out)");
  flags.flag("--json", options->json, "print what was written as one JSON object");
  flags.flag("--quiet", options->quiet, "print nothing but errors and warnings");
  flags.action([options] {
    options->run = run_on_disk(options->run);
    if (predicts_images(options->run)) return predict_images(*options);
    if (options->out.empty()) options->out = "out.csv";
    return predict_table(*options);
  });
}

}  // namespace

CommandKind predict_command() {
  return {.name = "predict",
          .help = "classes, scores and values of images, texts, CSV, NPY or NPZ files, by a trained run",
          .describe = describe_predict};
}

}  // namespace retrace::cli
