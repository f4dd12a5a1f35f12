#pragma once
// How blocks of one launch hand their sums to the one that comes last.

#include "retrace/device/cuda/kernel.h"

namespace retrace::cuda {

// Whether this block is the last of `blocks` that come to a counter; it then sees what the others wrote before, and the
// counter is 0 again. All threads of the block come.
RT_DEVICE bool comes_last(Global<unsigned> counter, unsigned blocks, Shared<unsigned> last) {
  barrier();
  if (thread().x == 0) {
    fence();
    last[0] = atomic_add(counter, 0, 1u) + 1 == blocks;
    fence();
  }
  barrier();
  const unsigned is_last = last[0];
  if (is_last && thread().x == 0) counter[0] = 0;
  return is_last != 0;
}

}  // namespace retrace::cuda
