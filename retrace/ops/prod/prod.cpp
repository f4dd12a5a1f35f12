#include "retrace/ops/prod/prod.h"

#include <algorithm>

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reduce/reduction.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace {
namespace {

// x without labels as [positions, rest], the reduced axes in front: products are then of whole rows.
Tensor reduced_in_front(const Tensor& x, const Shape& axes, Place place) {
  Shape order = axes;
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(i);
  const Tensor bare = reshape(x, x.shape(), "", place);
  const int64_t positions = reduced_count(x.shape(), axes);
  int64_t rest = 1;
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) rest *= x.shape()[i];
  bool moves = false;
  for (int i = 0; i < x.rank(); ++i) moves |= order[i] != i;
  return reshape(moves ? transpose(bare, order, place) : bare, {positions, rest}, "", place);
}

Tensor halved(const Tensor& x, Place place) {
  const int64_t n = x.shape()[0], half = (n + 1) / 2;
  const Tensor product = multiply(slice(x, 0, {0, n - half}, place), slice(x, 0, {half, n}, place), place);
  return n % 2 == 0 ? product : concatenate({product, slice(x, 0, {half - 1, half}, place)}, 0, place);
}

}  // namespace

Tensor prod(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  const TensorSpec& spec = x.spec(place);
  const Shape named = axes.of_or_all(spec, "prod", place);
  if (spec.type == DType::u8 || spec.type == DType::boolean)
    return prod(cast(x, DType::i32, place), named, options, place);
  Shape shape;
  std::string labels;
  for (int i = 0; i < x.rank(); ++i) {
    const bool reduced = std::find(named.begin(), named.end(), i) != named.end();
    if (reduced && !options.keep) continue;
    shape.push_back(reduced ? 1 : x.shape()[i]);
    if (!spec.labels.empty()) labels.push_back(spec.labels[i]);
  }
  Tensor product = reduced_in_front(x, named, place);
  if (product.shape()[0] == 0) return broadcast(constant_like(x, 1), shape, labels, place);
  while (product.shape()[0] > 1) product = halved(product, place);
  return reshape(product, shape, labels, place);
}

void define_prod(OpTable&) {}  // no op of its own: it is made of multiply and slice

}  // namespace retrace
