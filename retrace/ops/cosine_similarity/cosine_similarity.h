#ifndef RETRACE_OPS_COSINE_SIMILARITY_H
#define RETRACE_OPS_COSINE_SIMILARITY_H
// Cosine of the angle between vectors.

#include "retrace/tensor/axes.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of cosine_similarity and cosine_loss. A length below epsilon counts as epsilon.
struct CosineOptions {
  Axes axis = {};  // of the vectors; default: C, else the last
  double epsilon = 1e-8;
};

// y = sum(a * b) / (max(norm(a), epsilon) * max(norm(b), epsilon)) along the axis, which the result lacks (PyTorch's
// cosine_similarity). a and b are broadcast first. Roundings as written; sums in the order of sum. f32 and f64.
// Gradients: those of these ops. Error(usage) as of these ops, and for an epsilon that is negative or not finite.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, const CosineOptions& options = {},
                         Place place = Place::here());

// loss = mean of 1 - cosine_similarity(y, t) over all vectors: 0 where they point the same way, 2 where they oppose.
Tensor cosine_loss(const Tensor& y, const Tensor& t, const CosineOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_COSINE_SIMILARITY_H
