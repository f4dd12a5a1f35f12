#pragma once
// The mode in which a thread computes (Mode).

#include <optional>
#include <string_view>

#include "retrace/device/cpu/thread_count.h"

namespace retrace {

// Of this thread: that of its innermost OwnModeScope, else that of the process; reproducible at first.
Mode mode_of_thread();
// Whether the CPU may add in the order in which threads finish: in all modes but the reproducible one.
bool is_fast();
// Sets that of the process, and returns what it was.
Mode set_mode_of_process(Mode mode);

// The name of a mode, as training.mode has it, and the mode of a name: reproducible for what is none.
const char* mode_name(Mode mode);
Mode mode_named(std::string_view name);

// A mode for this thread alone, for its lifetime, which that of the process does not disturb: so jobs of several modes
// can run at the same time in one process. None: that of the process.
class OwnModeScope {
 public:
  explicit OwnModeScope(std::optional<Mode> mode) : before_(own_) { own_ = mode; }
  ~OwnModeScope() { own_ = before_; }
  OwnModeScope(const OwnModeScope&) = delete;
  OwnModeScope& operator=(const OwnModeScope&) = delete;

  // What this thread hands to those that compute for it: the helpers of run_pieces() have no mode of their own.
  static std::optional<Mode> current() { return own_; }

 private:
  static constinit thread_local std::optional<Mode> own_;
  std::optional<Mode> before_;
};

}  // namespace retrace
