#ifndef RETRACE_OPS_PAD_H
#define RETRACE_OPS_PAD_H
// Elements added around a tensor.

#include <string>

#include "retrace/ops/slice/slice.h"

namespace retrace {

// What pad adds to each of its axes.
struct PadMargins {
  int64_t before = 0;
  int64_t after = 0;
  std::string mode = "constant";  // "constant", "reflect" or "replicate"
  double value = 0;               // of the mode "constant"
};

// x with elements added before and after it along these axes, each in the same way:
//   constant    the value, rounded once to the type of x
//   reflect     the elements beside the first and the last, in reverse: of abcd, dcb|abcd|cba; fewer than the axis has
//   replicate   the first and the last element (numpy: edge)
//
//   pad(x, "S", {1, 1, "reflect"});  pad(x, -1, {.before = 2, .value = -1})
//
// Several axes are padded one after another, from the first. Any type; bits are copied, labels stay. Gradient: (dy of
// the copies before x + dy of those behind it) + dy of x itself, axis by axis from the last. Error(usage) for an axis
// or a label that x lacks, no axis, a negative number of elements (slice takes some away), a value that the type cannot
// hold, an unknown mode and an axis with too few elements to reflect or replicate.
Tensor pad(const Tensor& x, const Axes& axes, const PadMargins& margins, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_PAD_H
