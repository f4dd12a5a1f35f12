#include "retrace/device/cpu/fast_mode.h"

#include <atomic>

namespace retrace {
namespace {

std::atomic<bool> process_is_fast = false;

}  // namespace

constinit thread_local std::optional<bool> FastScope::own_;

bool is_fast() {
  const auto own = FastScope::current();
  return own ? *own : process_is_fast.load(std::memory_order_relaxed);
}

bool set_fast(bool fast) { return process_is_fast.exchange(fast); }

}  // namespace retrace
