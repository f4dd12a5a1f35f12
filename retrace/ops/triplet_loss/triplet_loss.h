#ifndef RETRACE_OPS_TRIPLET_LOSS_H
#define RETRACE_OPS_TRIPLET_LOSS_H
// Loss of distances.

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of triplet_loss. epsilon: added to differences, so that the distance of equal vectors has a gradient.
struct TripletOptions {
  double margin = 1;
  double epsilon = 1e-6;
};

// loss = mean of max(d(anchor, positive) - d(anchor, negative) + margin, 0), d(a, b) = norm(a - b + epsilon) along the
// last axis (Schroff et al. 2015; PyTorch's triplet_margin_loss): zero where the negative is farther away than the
// positive by the margin. All three have one shape [..., features]. f32 and f64. Roundings and gradients: those of
// these ops. Error(usage) for other shapes.
Tensor triplet_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                    const TripletOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_TRIPLET_LOSS_H
