#include "retrace/ops/cosine_similarity/cosine_similarity.h"

#include <cmath>

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/mean/mean.h"
#include "retrace/ops/norm/norm.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/softmax/softmax_axis.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {

Tensor cosine_similarity(const Tensor& a, const Tensor& b, const CosineOptions& options, Place place) {
  check_defined("cosine_similarity", a, place);
  check_defined("cosine_similarity", b, place);
  if (!(options.epsilon >= 0) || !std::isfinite(options.epsilon))
    throw Error(ErrorKind::usage, 267, fmt::format("cosine_similarity: epsilon is {}", options.epsilon))
        .where(place)
        .expected("0 or a positive number");
  const Operand epsilon(constant(options.epsilon, a.type()));
  const Tensor product = a * b;
  const int axis = softmax_axis(product, options.axis, "cosine_similarity", place);
  const auto length = [&](const Tensor& x) {
    const int missing = product.shape().rank() - x.shape().rank();
    const bool whole = axis >= missing && x.shape()[axis - missing] == product.shape()[axis];
    const Tensor vectors = whole ? x : broadcast(x, product.shape(), product.spec().labels.text(), place);
    return maximum(norm(vectors, whole ? axis - missing : axis, {}, place), epsilon, place);
  };
  const Tensor dot = sum(product, axis, {}, place);
  const Tensor of_a = length(a), of_b = length(b);
  return dot / (of_a * of_b);
}

Tensor cosine_loss(const Tensor& y, const Tensor& t, const CosineOptions& options, Place place) {
  const Tensor cosine = cosine_similarity(y, t, options, place);
  return mean(1 - cosine, {}, {}, place);
}

void define_cosine_similarity(OpTable&) {}  // no op of its own: it is made of sum, norm and maximum

}  // namespace retrace
