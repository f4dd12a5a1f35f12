#pragma once
// The mode in which a thread computes: fast, or reproducible (retrace/run/plan_settings.h).

#include <optional>

namespace retrace {

// Of this thread: that of its innermost FastScope, else that of the process; false at first.
bool is_fast();
// Sets that of the process, and returns what it was.
bool set_fast(bool fast);

// A mode for this thread alone, for its lifetime, which that of the process does not disturb: so jobs of both modes can
// run at the same time in one process. None: that of the process.
class FastScope {
 public:
  explicit FastScope(std::optional<bool> fast) : before_(own_) { own_ = fast; }
  ~FastScope() { own_ = before_; }
  FastScope(const FastScope&) = delete;
  FastScope& operator=(const FastScope&) = delete;

  // What this thread hands to those that compute for it: the helpers of run_pieces() have no mode of their own.
  static std::optional<bool> current() { return own_; }

 private:
  static constinit thread_local std::optional<bool> own_;
  std::optional<bool> before_;
};

}  // namespace retrace
