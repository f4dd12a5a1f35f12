// First include of every kernel file, after it defined HWY_TARGET_INCLUDE as its own path: compiles
// the file once per instruction set.
// No include guard: foreach_target.h includes the kernel file again and again.
#include "retrace/device/cpu/compiled_targets.h"
//
#include <hwy/foreach_target.h>
