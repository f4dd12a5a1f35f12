#pragma once
// Flags that replace keys of a job.

#include <string>
#include <vector>

#include "retrace/cli/command.h"
#include "retrace/train/job.h"

namespace retrace::cli {

// "key=value" of --set, and flags for some keys. Texts, so that the job's own rules judge them and all mistakes come at
// once.
struct JobSettings {
  std::vector<std::string> settings;
  std::string threads, device, workers, seed, timeout, epochs, batch_size, learn_rate, data;  // empty: not given
};

// --set, --threads, --device and --seed.
void add_settings(Flags& flags, JobSettings& settings);
// The flags come after --set, so that they win. Throws Error(usage) for all settings without '=' at once.
std::vector<JobOverride> overrides_of(const JobSettings& settings);

}  // namespace retrace::cli
