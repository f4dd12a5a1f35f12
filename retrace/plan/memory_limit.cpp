#include "retrace/plan/memory_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "retrace/base/options.h"
#include "retrace/plan/passes/memory_share.h"

namespace retrace {
namespace {

constexpr double kMiB = 1048576;
constexpr double kFirstShare = 0.9, kLastShare = 0.02, kStep = 0.85;  // of the attempts

std::atomic<size_t>& limit() {
  static std::atomic<size_t> bytes =
      static_cast<size_t>(environment_number(EnvironmentVariable::memory_limit, 1, 1 << 30, 0)) << 20;
  return bytes;
}

// In the largest unit of which there is one.
std::string size_text(size_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  if (bytes < kMiB) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMiB);
}

}  // namespace

size_t memory_limit() { return limit(); }
void set_memory_limit(size_t bytes) { limit() = bytes; }

// What a pass counts is not what fusion and placement make of it: the share is lowered until the arena fits, by the
// same steps for every limit, so that the least that an error names can be had.
std::shared_ptr<const Plan> make_plan(const Trace& recorded) {
  auto plan = std::make_shared<const Plan>(recorded);
  const size_t most = memory_limit(), whole = plan->arena_bytes();
  if (most == 0 || whole <= most) return plan;
  size_t least = whole;
  for (double share = kFirstShare; share > kLastShare; share *= kStep) {
    const MemoryShare scope(share);
    plan = std::make_shared<const Plan>(recorded);
    if (plan->arena_bytes() <= most) return plan;
    least = std::min(least, plan->arena_bytes());
  }
  throw Error(ErrorKind::usage, 231, fmt::format("the memory limit of {} cannot be met", size_text(most)))
      .got(fmt::format("{} for the intermediates of a step; {} if values are computed again", size_text(whole),
                       size_text(least)))
      .expected(fmt::format("a limit of {} MiB or more", (least + (size_t{1} << 20) - 1) >> 20))
      .help("raise RETRACE_MEMORY_LIMIT, or make the mini-batch smaller");
}

}  // namespace retrace
