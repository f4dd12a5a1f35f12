#include "retrace/ops/broadcast/broadcast.h"

#include "retrace/ops/pointwise.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {

RT_POINTWISE_RULE(identity);

namespace {

std::vector<TensorSpec> infer(const InferCall& call) {
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

std::vector<Tensor> gradient(const GradientCall& call) {
  return {sum_to(call.cotangents[0], call.inputs[0], call.place)};
}

int32_t integer(const int32_t* in) { return in[0]; }

}  // namespace

Tensor broadcast(const Tensor& x, const Shape& shape, std::string_view labels, Place place) {
  static const Op& op = find_op("broadcast");
  if (x.shape(place) == shape) return reshape(x, shape, labels, place);
  return record_one(op, {{"shape", shape}, {"labels", std::string(labels)}}, {x}, place);
}

void define_broadcast(OpTable& table) {
  table.add({.name = "broadcast",
             .attributes = {"shape", "labels"},
             .infer = infer,
             .gradient = gradient,
             .rule = &identity_pointwise,
             .integer = integer,
             .integer_by_rule = true,
             .same_as = {{.input = 0}},
             .repeats = true});
}

}  // namespace retrace
