// The kernel of late_copy.h, of one block.
#include "retrace/device/cuda/late_copy.h"

#include "retrace/device/cuda/kernel.h"

namespace retrace::cuda {

RT_KERNEL_BOUNDS(late_copy, 32, LateCopyArguments, a) {
  int behind = 0;
  for (int part = 0; part < kMostLateParts; ++part) {
    for (int i = static_cast<int>(thread().x); i < a.words[part]; i += 32) a.to[behind + i] = a.from[part][i];
    behind += a.words[part];
  }
}

}  // namespace retrace::cuda
