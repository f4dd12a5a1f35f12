#ifndef RETRACE_OPS_GLU_H
#define RETRACE_OPS_GLU_H
// Gated linear unit.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// y = a * sigmoid(b) for the halves a and b of x along the axis (Dauphin et al. 2017), which the result has half of.
// f32 and f64. Gradient: those of these ops. Error(usage) for an axis of an odd size.
//
// axis: default C, else the last.
Tensor glu(const Tensor& x, const Axes& axis = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_GLU_H
