// What replaces the values of a job file.

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/train/job_entries.h"
#include "retrace/train/job_fields.h"

namespace retrace {
namespace {

// The keys that have a meaning for the job.
std::vector<std::string> meant_keys(const Job& job) {
  std::vector<std::string> keys;
  for (const auto& field : job_fields(job))
    if (field.applies) keys.push_back(field.key);
  return keys;
}

std::vector<JobEntry> override_entries(const std::vector<JobOverride>& overrides) {
  std::vector<JobEntry> entries;
  for (const auto& one : overrides)
    entries.push_back({printable(std::string_view(one.key).substr(0, 80)), RawValue{one.value},
                       fmt::format("\"{}\"", printable(one.value.substr(0, 80))), one.place});
  return entries;
}

}  // namespace

std::vector<JobEntry> with_overrides(std::vector<JobEntry> file, const std::vector<JobOverride>& overrides) {
  if (overrides.empty()) return file;
  const auto replacing = override_entries(overrides);
  std::vector<JobEntry> all = file;
  all.insert(all.end(), replacing.begin(), replacing.end());
  const auto before = meant_keys(unchecked_job(file)), after = meant_keys(unchecked_job(all));
  std::erase_if(file, [&](const JobEntry& entry) {
    return std::count(before.begin(), before.end(), entry.key) && !std::count(after.begin(), after.end(), entry.key);
  });
  file.insert(file.end(), replacing.begin(), replacing.end());
  return file;
}

}  // namespace retrace
