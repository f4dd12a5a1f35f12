#include "retrace/device/cpu/fast_mode.h"

#include <array>
#include <atomic>

namespace retrace {
namespace {

std::atomic<Mode> mode_of_process = Mode::reproducible;

// By the number of the mode.
constexpr std::array<const char*, 3> kModeNames = {"reproducible", "fast", "fast_bf16"};

}  // namespace

constinit thread_local std::optional<Mode> OwnModeScope::own_;

Mode mode_of_thread() {
  const auto own = OwnModeScope::current();
  return own ? *own : mode_of_process.load(std::memory_order_relaxed);
}

bool is_fast() { return mode_of_thread() != Mode::reproducible; }

Mode set_mode_of_process(Mode mode) { return mode_of_process.exchange(mode); }

const char* mode_name(Mode mode) { return kModeNames[static_cast<size_t>(mode)]; }

Mode mode_named(std::string_view name) {
  for (size_t i = 0; i < kModeNames.size(); ++i)
    if (name == kModeNames[i]) return static_cast<Mode>(i);
  return Mode::reproducible;
}

}  // namespace retrace
