#ifndef RETRACE_OPS_KL_DIVERGENCE_H
#define RETRACE_OPS_KL_DIVERGENCE_H
// Kullback-Leibler divergence.

#include "retrace/tensor/tensor.h"

namespace retrace {

// loss = (1/N) sum of t (log t - y) over all elements; a term with t = 0 is 0. y are logarithms of probabilities (of
// logits x: x - logsumexp(x, -1, {.keep = true})), t are probabilities of the same type and shape; N is as in
// cross_entropy (PyTorch: reduction "batchmean"). The result is one unlabelled number. Roundings as written, sum by the
// row rule. Gradients: -((dloss / N) t) for y; (dloss / N) ((log t - y) + 1) for t, 0 where t = 0. f32 and f64;
// Error(usage) otherwise, or for another shape.
Tensor kl_divergence(const Tensor& y, const Tensor& t, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_KL_DIVERGENCE_H
