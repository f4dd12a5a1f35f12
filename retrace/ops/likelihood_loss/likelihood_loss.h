#ifndef RETRACE_OPS_LIKELIHOOD_LOSS_H
#define RETRACE_OPS_LIKELIHOOD_LOSS_H
// Losses of counts, and of values whose variance is learned.

#include "retrace/tensor/tensor.h"

namespace retrace {

// loss = mean of exp(x) - t * x over all elements: the negative log-likelihood of counts t whose rates are exp(x), but
// for a term of t alone (PyTorch's poisson_nll_loss). t has the type and shape of x. f32 and f64. Roundings as written;
// sum by the row rule. Gradients: those of these ops. Error(usage) for another shape.
Tensor poisson_loss(const Tensor& x, const Tensor& t, Place place = Place::here());

// loss = mean of (log(v) + (y - t)^2 / v) * 0.5 over all elements, v = max(variance, epsilon): the negative
// log-likelihood of values t with the mean y, but for a constant (PyTorch's gaussian_nll_loss, which gives the variance
// a gradient below epsilon, too). All three have one type and shape. A network learns log(variance) as easily:
// gaussian_loss(y, t, exp(x)). Roundings, gradients and errors as of poisson_loss.
Tensor gaussian_loss(const Tensor& y, const Tensor& t, const Tensor& variance, double epsilon = 1e-6,
                     Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_LIKELIHOOD_LOSS_H
