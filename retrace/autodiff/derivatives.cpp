// Products with derivatives, and derivatives along an axis, by passes of reverse mode.

#include <fmt/format.h>

#include "retrace/autodiff/cotangents.h"
#include "retrace/autodiff/gradient.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {
namespace {

// The sum over all elements of the products of tensors that are both there; undefined if there are none.
Tensor dot(std::span<const Tensor> a, std::span<const Tensor> b, Place place) {
  Tensor total;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].defined() || !b[i].defined()) continue;
    const Tensor product = sum(multiply(a[i], b[i], place), {}, {}, place);
    total = total.defined() ? add(total, product, place) : product;
  }
  return total;
}

Tensor one(const Tensor& number, Place place) {
  return reshape(constant_like(number, 1), number.shape(), number.labels(), place);
}

// The gradient for x of the sum of slice i of y.
Tensor slice_gradient(const Tensor& y, const Tensor& x, int axis, int64_t i, Place place) {
  const Tensor total = sum(select(y, axis, i, place), {}, {}, place), seed = one(total, place);
  const Tensor found = vjp({&total, 1}, {&seed, 1}, {&x, 1}, place)[0];
  return found.defined() ? found : zeros_like(x, place);
}

}  // namespace

std::vector<Tensor> jvp(std::span<const Tensor> y, std::span<const Tensor> x, std::span<const Tensor> tangents,
                        Place place) {
  check_cotangents("jvp", x, tangents, place);
  std::vector<Tensor> cotangents;  // any: what follows is linear in them
  for (const Tensor& output : y) cotangents.push_back(zeros_like(output, place));
  const auto gradients = vjp(y, cotangents, x, place);
  std::vector<Tensor> found(y.size());
  if (const Tensor total = dot(gradients, tangents, place); total.defined()) {
    const Tensor seed = one(total, place);
    found = vjp({&total, 1}, {&seed, 1}, cotangents, place);
  }
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i].defined()) found[i] = zeros_like(y[i], place);
  return found;
}

Tensor jacobian(const Tensor& y, const Tensor& x, const Axes& axis, Place place) {
  const int at = axis.one_of(y.spec(place), "jacobian", place);
  if (at > x.rank(place))
    throw Error(ErrorKind::usage, 264, "jacobian: x has too few axes")
        .where(place)
        .got(x.spec().text())
        .expected(fmt::format("{} axes or more, in front of which the slices of y stand", at));
  const Tensor plain = reshape(y, y.shape(), "", place);
  std::vector<Tensor> slices;
  for (int64_t i = 0; i < y.shape()[at]; ++i) {
    const Tensor found = slice_gradient(plain, x, at, i, place);
    slices.push_back(reshape(found, x.shape(), "", place));
  }
  return stack(slices, at, place);
}

Tensor divergence(const Tensor& y, const Tensor& x, const Axes& axis, Place place) {
  const int at = axis.one_of(x.spec(place), "divergence", place);
  if (!(y.shape(place) == x.shape()))
    throw Error(ErrorKind::usage, 264, "divergence: y has not the shape of x")
        .where(place)
        .got(y.spec().text())
        .expected(x.spec().text());
  Tensor total;
  for (int64_t i = 0; i < x.shape()[at]; ++i) {
    const Tensor own = select(slice_gradient(y, x, at, i, place), at, i, place);
    total = total.defined() ? add(total, own, place) : own;
  }
  return total;
}

Tensor laplacian(const Tensor& y, const Tensor& x, const Axes& axis, Place place) {
  const Tensor total = sum(y, {}, {}, place), seed = one(total, place);
  const Tensor gradient = vjp({&total, 1}, {&seed, 1}, {&x, 1}, place)[0];
  return divergence(gradient.defined() ? gradient : zeros_like(x, place), x, axis, place);
}

std::vector<Tensor> hessian_vector(const Tensor& loss, std::span<const Tensor> x, std::span<const Tensor> v,
                                   Place place) {
  check_cotangents("hessian_vector", x, v, place);
  const Tensor total = dot(gradients(loss, x, place), v, place);
  std::vector<Tensor> found(x.size());
  if (total.defined()) found = gradients(total, x, place);
  for (size_t i = 0; i < x.size(); ++i)
    if (!found[i].defined()) found[i] = zeros_like(x[i], place);
  return found;
}

}  // namespace retrace
