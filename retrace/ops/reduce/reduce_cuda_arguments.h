#pragma once
// The argument of kernels that reduce (reduce_cuda.h), for host and device.

#include "retrace/device/cuda/fast_divide.h"

namespace retrace::cuda {

// Some axes of a tensor; a row-major index over them is an offset in memory.
struct ReduceAxes {
  int count;
  Divisor size[8];
  long long stride[8];
};

// One pass. It combines items of `item` positions: of x, strips or blocks; in later passes, the parts that the pass
// before has left. A thread takes `per` neighbouring items of one lane (a channel, or a lane of the row rule); `strips`
// threads have a run of them, which yields one part. More rows of the result, if there is room, are in the same block.
// Where `combine` is set, the block of a row's lanes that comes last combines the parts of all runs: its threads take
// so many neighbouring ones of a lane.
struct ReduceArguments {
  const void* x;
  const void* parts;  // null: items come from x
  void* runs_out;     // the parts of this pass, [outer][runs][lane], unless runs = 1: then results go to `out`
  void* out[3];
  long long outer, positions, channels, run;  // ReduceShape
  Divisor by_run;
  ReduceAxes outer_axes, segment_axes;
  long long item, items;
  int lanes, strips, per, combine;  // powers of two, but combine may be 0
  int lane_bits, strip_bits;        // of lanes and strips
  void* counters;                   // Launches::counters()
  Divisor chunks, runs;             // blocks along the channels; runs of a row
};

}  // namespace retrace::cuda
