#include "retrace/ops/broadcast/broadcast.h"

#include <algorithm>

#include "retrace/ops/pointwise.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {

RT_POINTWISE_RULE(identity);

namespace {

std::vector<TensorSpec> infer_broadcast(const InferCall& call) {
  const auto& x = call.inputs[0];
  const Shape& shape = call.attributes.list("shape");
  Shape merged;
  for (int64_t size : shape)
    if (size < 0)
      op_error(call, 102, fmt::format("the shape {} has a negative size", shape.text()), x.text(),
               "sizes of 0 or more");
  if (!broadcast_shapes(x.shape, shape, merged) || !(merged == shape))
    op_error(call, 135, fmt::format("x does not stretch to the shape {}", shape.text()), "x " + x.text(),
             "for each axis of x, from the last, size 1 or that of the shape", "reshape x so that its axes align");
  const Labels labels = checked_labels(call, shape);
  const bool same_batch = labels.find('B') == 0 && x.batch_first() && shape[0] == x.shape[0];
  return {{x.type, shape, labels, same_batch ? x.part : BatchPart{}}};
}

std::vector<Tensor> gradient_broadcast(const GradientCall& call) {
  return {sum_to(call.cotangents[0], call.inputs[0], call.place)};
}

// x with `count` copies along an axis: of the whole axis or, `each`, of each element.
Tensor copies(const Tensor& x, int axis, int64_t count, bool each, Place place) {
  Shape shape = x.shape();
  const int64_t before = shape.count(0, axis), size = shape[axis], behind = shape.count(axis + 1, shape.rank());
  const Shape apart = each ? Shape{before * size, 1, behind} : Shape{before, 1, size * behind};
  const Tensor stretched = broadcast(reshape(x, apart, "", place), {apart[0], count, apart[2]}, "", place);
  shape[axis] *= count;
  return reshape(stretched, shape, x.labels(), place);
}

void check_count_broadcast(std::string_view function, int64_t count, const Tensor& x, Place place) {
  if (count < 0)
    throw Error(ErrorKind::usage, 200, fmt::format("{}: {} copies are asked for", function, count))
        .where(place)
        .got("x " + x.spec().text())
        .expected("counts of 0 or more");
}

constexpr auto integer_broadcast = []<class T>(const T* in) -> T { return in[0]; };

}  // namespace

Tensor broadcast(const Tensor& x, const Shape& shape, std::string_view labels, Place place) {
  static const Op& op = find_op("broadcast");
  if (x.shape(place) == shape) return reshape(x, shape, labels, place);
  return record_one(op, {{"shape", shape}, {"labels", std::string(labels)}}, {x}, place);
}

Tensor tile(const Tensor& x, const Shape& counts, Place place) {
  Shape shape = x.shape(place);
  const int added = std::max(0, counts.rank() - shape.rank());
  Tensor y = x;
  if (added > 0) {
    Shape longer;
    for (int i = 0; i < counts.rank(); ++i) longer.push_back(i < added ? 1 : shape[i - added]);
    y = reshape(x, longer, "", place);
  }
  for (int i = 0; i < counts.rank(); ++i) check_count_broadcast("tile", counts[i], x, place);
  for (int i = counts.rank() - 1; i >= 0; --i)
    if (counts[i] != 1) y = copies(y, y.rank() - counts.rank() + i, counts[i], false, place);
  return y;
}

Tensor repeat_interleave(const Tensor& x, const Axes& axis, int64_t count, Place place) {
  const int along = axis.one_of(x.spec(place), "repeat_interleave", place);
  check_count_broadcast("repeat_interleave", count, x, place);
  return count == 1 ? x : copies(x, along, count, true, place);
}

void define_broadcast(OpTable& table) {
  table.add({.name = "broadcast",
             .attributes = {"shape", "labels"},
             .infer = infer_broadcast,
             .gradient = gradient_broadcast,
             .rule = &identity_pointwise,
             .integer = integer_broadcast,
             .integer_by_rule = true,
             .same_as = {{.input = 0}},
             .repeats = true});
}

}  // namespace retrace
