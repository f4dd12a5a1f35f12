// Any text is either refused with an Error, or is a job whose printed form reads back to the same job. What follows
// the first NUL, if any, is an override.

#include "retrace/base/error.h"
#include "retrace/train/job.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = std::min(input.find('\0'), size);
  try {
    std::vector<JobOverride> overrides;
    if (cut < size) overrides.push_back(parse_override(input.substr(cut + 1)));
    const Job job = parse_job(input.substr(0, cut), "fuzz.toml", overrides);
    const std::string text = job_text(job);
    try {
      if (job_text(parse_job(text, "again.toml")) != text) __builtin_trap();
    } catch (const Error&) {
      __builtin_trap();
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) __builtin_trap();
  }
  return 0;
}
