#include "retrace/device/cpu/fast_mode.h"
#include "retrace/run/plan_settings.h"

namespace retrace {

Mode mode() { return mode_of_thread(); }
Mode set_mode(Mode mode) { return set_mode_of_process(mode); }

}  // namespace retrace
