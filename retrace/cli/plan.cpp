#include "retrace/cli/cli.h"
#include "retrace/cli/output.h"
#include "retrace/cli/settings.h"
#include "retrace/train/train_job.h"

namespace retrace::cli {

int plan(const PlanOptions& options) {
  print(describe_plan(read_job(options.job, overrides_of(options.settings)), {options.passes, options.why}));
  return 0;
}

}  // namespace retrace::cli
