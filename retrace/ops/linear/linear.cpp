#include "retrace/ops/linear/linear.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {

Tensor linear(const Tensor& x, const Tensor& weights, Place place) {
  check_defined("linear", x, place);
  check_defined("linear", weights, place);
  const Tensor rows = flatten(x, place);
  const auto got = [&] { return fmt::format("x {}, weights {}", x.spec().text(), weights.spec().text()); };
  if (rows.rank() != 2 || weights.rank() != 2)
    throw Error(ErrorKind::usage, 161, fmt::format("linear: x has {} axes, weights have {}", x.rank(), weights.rank()))
        .where(place)
        .got(got())
        .expected("x with a batch axis and at least one more, weights [out,in]");
  if (rows.shape()[1] != weights.shape()[1])
    throw Error(ErrorKind::usage, 162,
                fmt::format("linear: x has {} features, weights expect {}", rows.shape()[1], weights.shape()[1]))
        .where(place)
        .got(got())
        .expected("features of x (all its axes but the first) = last axis of the weights")
        .help(fmt::format("give the weights the shape [{},{}]", weights.shape()[0], rows.shape()[1]));
  return matmul(rows, weights, {.transpose_b = true}, place);
}

Tensor linear(const Tensor& x, const Tensor& weights, const Tensor& bias, Place place) {
  const Tensor y = linear(x, weights, place);
  const int64_t outputs = weights.shape()[0];
  if (bias.rank(place) > 1 || (bias.size() != 1 && bias.size() != outputs))
    throw Error(ErrorKind::usage, 163, fmt::format("linear: the bias does not fit {} outputs", outputs))
        .where(place)
        .got(fmt::format("bias {}", bias.spec().text()))
        .expected(fmt::format("the shape [{}], or one number", outputs));
  return add(y, bias, place);
}

Tensor linear(const Tensor& x, const Tree& layer, Place place) {
  if (layer.is_leaf()) return linear(x, layer.tensor(), place);
  const Tensor& weights = layer["weights"];
  return layer.contains("bias") ? linear(x, weights, layer["bias"].tensor(), place) : linear(x, weights, place);
}

void define_linear(OpTable&) {}  // no op of its own: it is made of reshape, matmul and add

}  // namespace retrace
