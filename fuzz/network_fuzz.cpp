// Any text as the keys of [network] is refused with Errors, or is a network that can be analyzed, and whose sums are
// those of its layers. (job_fuzz reads whole jobs, and follows no shapes.)

#include "retrace/base/error.h"
#include "retrace/nn/analyze.h"
#include "retrace/train/job.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string input(reinterpret_cast<const char*>(data), size);
  try {
    const Job job = parse_job("[data]\nsource = \"digits\"\n[network]\n" + input, "fuzz.toml");
    const nn::Analysis analysis = nn::analyze(job.network);
    int64_t learnables = 0, bytes = 0;
    for (const auto& layer : analysis.layers) {
      if (layer.learnables < 0 || layer.output_bytes < 0) __builtin_trap();
      learnables += layer.learnables, bytes += layer.output_bytes;
    }
    if (learnables != analysis.learnables || bytes != analysis.activation_bytes) __builtin_trap();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) __builtin_trap();
  }
  return 0;
}
