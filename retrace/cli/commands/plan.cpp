
#include "retrace/base/json.h"
#include "retrace/cli/output.h"
#include "retrace/cli/settings.h"
#include "retrace/train/train_job.h"

namespace retrace::cli {
namespace {

struct PlanOptions {
  std::filesystem::path job;
  JobSettings settings;
  PlanDetails details;
  bool json = false;
};

int plan(const PlanOptions& options) {
  const Job job = read_job(options.job, overrides_of(options.settings));
  const std::string text = describe_plan(job, options.details);
  print(options.json ? Json::object({{"job", job.name}, {"plan", text}}).text() + "\n" : text);
  return 0;
}

void describe_plan(Flags& flags) {
  const auto options = std::make_shared<PlanOptions>();
  flags.argument("JOB", options->job, "job file (TOML)", "the job file");
  add_settings(flags, options->settings);
  flags.flag("--passes", options->details.passes, "what each pass changes, instead of the trace after them");
  flags.flag("--why", options->details.why, "each kernel call: what was fused into it, and why not more");
  flags.flag("--json", options->json, "print the text as a part of one JSON object");
  flags.action([options] { return plan(*options); });
}

}  // namespace

CommandKind plan_command() {
  return {.name = "plan", .help = "the trace and the plan of a job's training step", .describe = describe_plan};
}

}  // namespace retrace::cli
