#include "retrace/ops/likelihood_loss/likelihood_loss.h"

#include "retrace/ops/exp/exp.h"
#include "retrace/ops/log/log.h"
#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/mean/mean.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/square/square.h"

namespace retrace {
namespace {

// Without this, [n,1] and [n] would make n * n differences.
void check_alike(const char* function, const Tensor& y, const Tensor& other, const char* name, Place place) {
  check_defined(function, y, place);
  check_defined(function, other, place);
  if (is_float(y.type()) && y.type() == other.type() && y.shape() == other.shape()) return;
  throw Error(ErrorKind::usage, 548, fmt::format("{}: {} does not fit", function, name))
      .where(place)
      .got(fmt::format("{} for {}", other.spec(place).text(), y.spec(place).text()))
      .expected("float tensors of one type and shape")
      .help("reshape(t, y.shape()), cast(t, y.type())");
}

}  // namespace

Tensor poisson_loss(const Tensor& x, const Tensor& t, Place place) {
  check_alike("poisson_loss", x, t, "t", place);
  return mean(exp(x, place) - t * x, {}, {}, place);
}

Tensor gaussian_loss(const Tensor& y, const Tensor& t, const Tensor& variance, double epsilon, Place place) {
  check_alike("gaussian_loss", y, t, "t", place);
  check_alike("gaussian_loss", y, variance, "variance", place);
  const Tensor v = maximum(variance, Operand(constant(epsilon, y.type())), place);
  return mean((log(v, place) + square(y - t, place) / v) * Operand(constant(0.5, y.type())), {}, {}, place);
}

void define_likelihood_loss(OpTable&) {}  // no op of its own: it is made of exp, log, square and mean

}  // namespace retrace
