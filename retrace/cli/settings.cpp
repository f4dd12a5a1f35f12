#include "retrace/cli/settings.h"

#include "retrace/base/error.h"

namespace retrace::cli {

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
  if (!settings.devices.empty()) overrides.push_back({"device", "cuda:" + settings.devices, "--devices"});
  if (!settings.seed.empty()) overrides.push_back({"seed", settings.seed, "--seed"});
  if (!settings.timeout.empty()) overrides.push_back({"training.timeout", settings.timeout, "--timeout"});
  return overrides;
}

}  // namespace retrace::cli
