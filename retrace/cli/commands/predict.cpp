#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/train/train_job.h"

namespace retrace::cli {
namespace {

struct PredictOptions {
  std::filesystem::path run, input, output = "out.csv";
};

int predict(const PredictOptions& options) {
  if (options.output == "-" || is_standard_output(options.output)) {
    print(predict_run(options.run, options.input).csv);
    return 0;
  }
  const int64_t rows = predict_run(options.run, options.input, options.output);
  print(fmt::format("{} rows in {}\n", rows, printable(options.output.string())));
  return 0;
}

void describe(Flags& flags) {
  const auto options = std::make_shared<PredictOptions>();
  flags.argument("RUN", options->run, "run folder", "the run folder");
  flags.required("--input", "FILE", options->input, "IDX file of images, gzip or not", "the IDX file of images");
  flags.option("--output", "FILE", options->output, "CSV file to write (out.csv); - is standard output");
  flags.action([options] { return predict(*options); });
}

}  // namespace

CommandKind predict_command() {
  return {.name = "predict", .help = "classes, scores and values of images, by a trained run", .describe = describe};
}

}  // namespace retrace::cli
