#pragma once
// The loops of take_along_axis and scatter_add on the CPU.

#include "retrace/trace/op.h"

namespace retrace {

// How x and the index lie: [outer, size or picks, step].
struct AlongAxis {
  AlongAxis(const Attributes& attributes, const Shape& x, const Shape& index) {
    const int axis = static_cast<int>(attributes.integer("axis"));
    outer = x.count(0, axis), size = x[axis], picks = index[axis], step = x.count(axis + 1, x.rank());
  }
  int64_t outer;
  int64_t size;   // of the axis in x
  int64_t picks;  // in the index
  int64_t step;   // from one element of a line to the next
};

// Each looks at indices just before it uses them, and returns whether all exist.
bool run_take_along_axis(const KernelCall& call);
bool run_scatter_add(const KernelCall& call);

}  // namespace retrace
