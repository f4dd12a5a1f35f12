#include "retrace/ops/linear/linear.h"

#include "retrace/ops/add/add.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {

namespace {

// [samples,features], or [positions,features] of the last axis.
Tensor rows_of_linear(const Tensor& x, const LinearOptions& options, Place place) {
  if (options.flatten) return flatten(x, place);
  if (x.rank() == 0 || x.rank() == 2) return x;
  return reshape(x, {x.shape().count(0, x.rank() - 1), x.shape().back()}, "", place);
}

void check_fit(const Tensor& x, const Tensor& rows, const Tensor& weights, const LinearOptions& options, Place place) {
  const auto got = [&] { return fmt::format("x {}, weights {}", x.spec().text(), weights.spec().text()); };
  if (rows.rank() != 2 || weights.rank() != 2)
    throw Error(ErrorKind::usage, 161, fmt::format("linear: x has {} axes, weights have {}", x.rank(), weights.rank()))
        .where(place)
        .got(got())
        .expected(options.flatten ? "x with a batch axis and at least one more, weights [out,in]"
                                  : "x with at least one axis, weights [out,in]");
  const int64_t features = rows.shape()[1], outputs = weights.shape()[0], wanted = weights.shape()[1];
  if (features == wanted) return;
  throw Error(ErrorKind::usage, 162, fmt::format("linear: x has {} features, weights expect {}", features, wanted))
      .where(place)
      .got(got())
      .expected(options.flatten ? "features of x (all its axes but the first) = last axis of the weights"
                                : "features of x (its last axis) = last axis of the weights")
      .help(fmt::format("give the weights the shape [{},{}]{}", outputs, features,
                        x.shape().back() == wanted ? ", or give {.flatten = false} for its last axis alone" : ""));
}

// Rows of results with the axes that x has.
Tensor in_form(const Tensor& y, const Tensor& x, const LinearOptions& options, Place place) {
  if (options.flatten || x.rank() == 2) return y;
  Shape shape = x.shape();
  shape[shape.rank() - 1] = y.shape()[1];
  return reshape(y, shape, x.labels(), place);
}

Tensor product_linear(const Tensor& x, const Tensor& weights, const LinearOptions& options, Place place) {
  check_defined("linear", x, place);
  check_defined("linear", weights, place);
  const Tensor rows = rows_of_linear(x, options, place);
  check_fit(x, rows, weights, options, place);
  return matmul(rows, weights, {.transpose_b = true}, place);
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weights, const LinearOptions& options, Place place) {
  return in_form(product_linear(x, weights, options, place), x, options, place);
}

Tensor linear(const Tensor& x, const Tensor& weights, Place place) {
  return linear(x, weights, LinearOptions(), place);
}

Tensor linear(const Tensor& x, const Tensor& weights, const Tensor& bias, const LinearOptions& options, Place place) {
  const Tensor y = product_linear(x, weights, options, place);
  const int64_t outputs = weights.shape()[0];
  if (bias.rank(place) > 1 || (bias.size() != 1 && bias.size() != outputs))
    throw Error(ErrorKind::usage, 163, fmt::format("linear: the bias does not fit {} outputs", outputs))
        .where(place)
        .got(fmt::format("bias {}", bias.spec().text()))
        .expected(fmt::format("the shape [{}], or one number", outputs));
  return in_form(add(y, bias, place), x, options, place);
}

Tensor linear(const Tensor& x, const Tensor& weights, const Tensor& bias, Place place) {
  return linear(x, weights, bias, LinearOptions(), place);
}

Tensor linear(const Tensor& x, const Tree& layer, const LinearOptions& options, Place place) {
  if (layer.is_leaf()) return linear(x, layer.tensor(), options, place);
  const Tensor& weights = layer["weights"];
  return layer.contains("bias") ? linear(x, weights, layer["bias"].tensor(), options, place)
                                : linear(x, weights, options, place);
}

Tensor linear(const Tensor& x, const Tree& layer, Place place) { return linear(x, layer, LinearOptions(), place); }

void define_linear(OpTable&) {}  // no op of its own: it is made of reshape, matmul and add

}  // namespace retrace
