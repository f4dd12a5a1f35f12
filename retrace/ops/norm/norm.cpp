#include "retrace/ops/norm/norm.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/op.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/square/square.h"
#include "retrace/ops/where/where.h"

namespace retrace {

// Where the sum is 0, the root is taken of 1 instead, so that no gradient is divided by 0.
Tensor norm(const Tensor& x, const Axes& axes, const ReduceOptions& options, Place place) {
  const Shape named = axes.of_or_all(x.spec(place), "norm", place);
  if (!is_float(x.type()))
    throw Error(ErrorKind::usage, 218, fmt::format("norm: x is {}", name_of(x.type())))
        .where(place)
        .got("x " + x.spec().text())
        .expected("f32 or f64")
        .help("cast(x, DType::f32)");
  const Tensor squares = sum(square(x, place), named, options, place);
  const Tensor zero = constant_like(x, 0), nothing = equal(squares, zero, place);
  return where(nothing, zero, sqrt(where(nothing, constant_like(x, 1), squares, place), place), place);
}

void define_norm(OpTable&) {}  // no op of its own: it is made of square, sum and sqrt

}  // namespace retrace
