#include "retrace/ops/quantile/quantile.h"

#include <cmath>

#include "retrace/ops/isfinite/isfinite.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sort/sort.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

// The number at the weight w of the way from part(i) to part(i + 1), from the nearer one.
template <class Part>
Tensor between(const Part& part, int64_t i, double w) {
  const Tensor a = part(i);
  if (w == 0) return a;
  const Tensor b = part(i + 1);
  const auto number = [&](double value) { return Operand(constant_like(a, value)); };
  return w < 0.5 ? a + (b - a) * number(w) : b - (b - a) * number(1 - w);
}

}  // namespace

Tensor quantile(const Tensor& x, double q, const Axes& axis, const ReduceOptions& options, Place place) {
  check_defined("quantile", x, place);
  if (axis.empty() && x.rank() != 1) {
    const Tensor one = quantile(reshape(x, {x.size()}, "", place), q, 0, {}, place);
    if (!options.keep) return one;
    return reshape(one, Shape(std::vector<int64_t>(static_cast<size_t>(x.rank()), 1)), x.labels(), place);
  }
  const int at = axis.empty() ? 0 : axis.one_of(x.spec(place), "quantile", place);
  const int64_t n = x.shape()[at];
  if (!(q >= 0 && q <= 1) || n == 0)
    throw Error(ErrorKind::usage, 542,
                n == 0 ? "quantile: the axis has no elements" : fmt::format("quantile: q is {}", q))
        .where(place)
        .got(fmt::format("x {}", x.spec(place).text()))
        .expected(n == 0 ? "one or more" : "0 to 1");
  const double position = q * static_cast<double>(n - 1), low = std::floor(position);
  const auto begin = static_cast<int64_t>(low);
  const Tensor sorted = sort(x, at, {}, place).values;
  const auto part = [&](int64_t i) {
    return options.keep ? slice(sorted, at, {i, i + 1}, place) : select(sorted, at, i, place);
  };
  const Tensor last = part(n - 1);
  return where(isnan(last, place), last, between(part, begin, position - low), place);
}

Tensor median(const Tensor& x, const Axes& axis, const ReduceOptions& options, Place place) {
  return quantile(x, 0.5, axis, options, place);
}

void define_quantile(OpTable&) {}  // no op of its own: it is made of sort and slice

}  // namespace retrace
