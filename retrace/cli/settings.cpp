#include "retrace/cli/settings.h"

#include "retrace/base/error.h"

namespace retrace::cli {

void add_settings(Flags& flags, JobSettings& settings) {
  flags.repeated("--set", "KEY=VALUE", settings.settings, "replaces a key of the job; may be repeated");
  flags.option("--threads", "N", settings.threads, "number of threads; changes no bit of the result");
  flags.option("--device", "NAME", settings.device,
               "cpu, cuda (or gpu), cuda:N, auto; cuda:N,M: the workers have these in turn");
  flags.option("--seed", "N", settings.seed, "seed of the job");
}

std::vector<JobOverride> overrides_of(const JobSettings& settings) {
  std::vector<JobOverride> overrides;
  std::vector<Error> errors;
  for (const auto& setting : settings.settings) {
    try {
      overrides.push_back(parse_override(setting));
    } catch (const Error& error) {
      errors.push_back(error);
    }
  }
  throw_all(errors);
  if (!settings.threads.empty()) overrides.push_back({"threads", settings.threads, "--threads"});
  if (!settings.device.empty()) overrides.push_back({"device", settings.device, "--device"});
  if (!settings.workers.empty())
    overrides.push_back({"workers", settings.workers == "auto" ? "0" : settings.workers, "--workers"});
  if (!settings.seed.empty()) overrides.push_back({"seed", settings.seed, "--seed"});
  if (!settings.timeout.empty()) overrides.push_back({"training.timeout", settings.timeout, "--timeout"});
  if (!settings.data.empty()) overrides.push_back({"data.path", settings.data, "--data"});
  if (!settings.epochs.empty()) overrides.push_back({"training.max_epochs", settings.epochs, "--epochs"});
  if (!settings.batch_size.empty())
    overrides.push_back({"training.mini_batch_size", settings.batch_size, "--batch-size"});
  if (!settings.learn_rate.empty())
    overrides.push_back({"training.initial_learn_rate", settings.learn_rate, "--learn-rate"});
  return overrides;
}

}  // namespace retrace::cli
