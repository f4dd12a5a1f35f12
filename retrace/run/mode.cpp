#include "retrace/device/cpu/fast_mode.h"
#include "retrace/run/plan_settings.h"

namespace retrace {
namespace {

Mode mode_of(bool fast) { return fast ? Mode::fast : Mode::reproducible; }

}  // namespace

Mode mode() { return mode_of(is_fast()); }
Mode set_mode(Mode mode) { return mode_of(set_fast(mode == Mode::fast)); }

}  // namespace retrace
