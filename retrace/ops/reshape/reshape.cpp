#include "retrace/ops/reshape/reshape.h"

#include "retrace/ops/op.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_reshape(const InferCall& call) {
  const auto& x = call.inputs[0];
  const Shape& shape = call.attributes.list("shape");
  if (shape.count() != x.shape.count())
    op_error(call, 140, fmt::format("{} elements do not fill the shape {}", x.shape.count(), shape.text()), x.text(),
             fmt::format("{} elements", shape.count()));
  const Labels labels = checked_labels(call, shape);
  const bool same_batch = !labels.empty() && labels.find('B') == 0 && x.batch_first() && shape[0] == x.shape[0];
  return {{x.type, shape, labels, same_batch ? x.part : BatchPart{}}};
}

std::vector<Tensor> gradient_reshape(const GradientCall& call) {
  return {reshape(call.cotangents[0], call.inputs[0].shape(), call.inputs[0].labels(), call.place)};
}

Shape completed_reshape(const Tensor& x, Shape shape, Place place) {
  int open = -1;
  Shape known;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] >= 0)
      known.push_back(shape[i]);
    else if (open < 0 && shape[i] == -1)
      open = i;
    else
      throw Error(ErrorKind::usage, 141, fmt::format("reshape: the shape {} is not usable", shape.text()))
          .where(place)
          .got(x.spec().text())
          .expected("sizes, and -1 at most once");
  }
  if (open >= 0) {
    const int64_t step = known.count();
    if (step == 0 || x.size() % step != 0)
      throw Error(ErrorKind::usage, 140,
                  fmt::format("reshape: {} elements do not fill the shape {}", x.size(), shape.text()))
          .where(place)
          .got(x.spec().text())
          .expected(step == 0 ? "no size 0 beside -1" : fmt::format("a multiple of {} elements", step));
    shape[open] = x.size() / step;
  }
  return shape;
}

}  // namespace

Tensor reshape(const Tensor& x, Shape shape, std::string_view labels, Place place) {
  static const Op& op = find_op("reshape");
  check_defined("reshape", x, place);
  shape = completed_reshape(x, shape, place);
  if (x.shape() == shape && x.labels() == labels) return x;
  return record_one(op, {{"shape", shape}, {"labels", std::string(labels)}}, {x}, place);
}

Tensor flatten(const Tensor& x, Place place) {
  if (x.rank(place) < 2) return x;
  return reshape(x, {x.shape()[0], x.shape().count(1, x.rank())}, x.spec().batch_first() ? "BC" : "", place);
}

Tensor squeeze(const Tensor& x, const Axes& axes, Place place) {
  const TensorSpec& spec = x.spec(place);
  std::array<bool, kMaxRank> removed{};
  for (int64_t axis : axes.of(spec, "squeeze", place)) {
    if (spec.shape[static_cast<int>(axis)] != 1)
      throw Error(ErrorKind::usage, 147,
                  fmt::format("squeeze: axis {} has the size {}", axis, spec.shape[static_cast<int>(axis)]))
          .where(place)
          .got("x " + spec.text())
          .expected("axes of size 1")
          .help("select(x, axis, i) takes one element of a longer axis");
    removed[static_cast<size_t>(axis)] = true;
  }
  Shape shape;
  Labels labels;
  for (int i = 0; i < spec.shape.rank(); ++i) {
    if (axes.empty() ? spec.shape[i] == 1 : removed[static_cast<size_t>(i)]) continue;
    shape.push_back(spec.shape[i]);
    if (!spec.labels.empty()) labels.push_back(spec.labels[i]);
  }
  return reshape(x, shape, labels.text(), place);
}

Tensor unsqueeze(const Tensor& x, const Axes& axes, Place place) {
  const TensorSpec result = axes.added_to(x.spec(place), "unsqueeze", place);
  return reshape(x, result.shape, result.labels.text(), place);
}

void define_reshape(OpTable& table) {
  table.add({.name = "reshape",
             .attributes = {"shape", "labels"},
             .infer = infer_reshape,
             .gradient = gradient_reshape,
             .view = true,
             .same_as = {{.input = 0}}});
}

}  // namespace retrace
