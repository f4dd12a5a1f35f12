#include "retrace/ops/dropout/dropout.h"

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/where/where.h"
#include "retrace/trace/draw_scope.h"

namespace retrace {
namespace {

void check_dropout(const Tensor& x, double probability, Place place) {
  check_defined("dropout", x, place);
  if (!is_float(x.type()))
    throw Error(ErrorKind::usage, 131, fmt::format("dropout: x is {}", name_of(x.type())))
        .where(place)
        .got(fmt::format("x {}", x.spec().text()))
        .expected("f32 or f64")
        .help("cast(x, DType::f32)");
  if (!(probability >= 0 && probability < 1))
    throw Error(ErrorKind::usage, 188, fmt::format("dropout: the probability is {}", probability))
        .where(place)
        .expected("0 or more, and less than 1: the share of elements that are dropped");
}

// Of what is drawn: that of x, or 1 along the positions.
Shape drawn_shape(const Tensor& x, const DropoutOptions& options) {
  Shape shape = x.shape();
  if (!options.whole_channels) return shape;
  const std::string_view labels = x.labels();
  for (int i = 0; i < shape.rank(); ++i) {
    const bool inner = i > 0 && i + 1 < shape.rank();
    if (labels.empty() ? inner : labels[static_cast<size_t>(i)] == 'S' || labels[static_cast<size_t>(i)] == 'T')
      shape[i] = 1;
  }
  return shape;
}

Tensor dropped(const Tensor& x, const Tensor& drawn, double probability, Place place) {
  const Tensor drops = less(drawn, constant(probability, DType::f32), place);
  const Tensor kept = multiply(x, constant_like(x, 1 / (1 - probability)), place);
  return where(drops, constant_like(x, 0), kept, place);
}

}  // namespace

Tensor dropout(const Tensor& x, double probability, RandomKey key, const DropoutOptions& options, Place place) {
  check_dropout(x, probability, place);
  const DrawOptions how{.labels = std::string(x.labels())};
  return dropped(x, uniform(drawn_shape(x, options), key, how, place), probability, place);
}

Tensor dropout(const Tensor& x, double probability, const DropoutOptions& options, Place place) {
  check_dropout(x, probability, place);
  if (!DrawScope::current())
    throw Error(ErrorKind::usage, 189, "dropout: what is dropped outside of a recorded function needs a key")
        .where(place)
        .expected("a call within a function made by value_and_grad or accelerate, or a key")
        .help("dropout(x, probability, random_key(seed).split(\"name\")); layers in inference drop nothing");
  const DrawOptions how{.labels = std::string(x.labels())};
  return dropped(x, uniform(drawn_shape(x, options), how, place), probability, place);
}

void define_dropout(OpTable&) {}  // no op of its own: it is made of uniform, less, multiply and where

}  // namespace retrace
