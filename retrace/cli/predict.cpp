#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/cli/cli.h"
#include "retrace/cli/output.h"
#include "retrace/train/train_job.h"

namespace retrace::cli {

int predict(const PredictOptions& options) {
  if (options.output == "-" || is_standard_output(options.output)) {
    print(predict_run(options.run, options.input).csv);
    return 0;
  }
  const int64_t rows = predict_run(options.run, options.input, options.output);
  print(fmt::format("{} rows in {}\n", rows, printable(options.output.string())));
  return 0;
}

}  // namespace retrace::cli
