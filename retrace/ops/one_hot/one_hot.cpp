#include "retrace/ops/one_hot/one_hot.h"

#include <cstring>

#include "retrace/ops/argmax/argmax.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/one_hot/one_hot_cuda.h"
#include "retrace/ops/op.h"

namespace retrace {

std::string cuda_element_one_hot(const InferCall& call, std::span<const std::string> arrays);

namespace {

constexpr IndexNames kOneHotLabels{"one_hot", "label", "count labels from 0, or ask for more classes"};

std::vector<TensorSpec> infer_one_hot(const InferCall& call) {
  const auto& labels = call.inputs[0];
  const int64_t classes = call.attributes.integer("classes");
  if (labels.type != DType::i32 && labels.type != DType::u8)
    op_error(call, 131, fmt::format("the labels are {}", name_of(labels.type)), "labels " + labels.text(), "i32 or u8",
             "cast(labels, DType::i32)");
  if (classes < 1)
    op_error(call, 178, fmt::format("there are {} classes", classes), "labels " + labels.text(), "1 class or more");
  TensorSpec y{DType::f32, labels.shape, with_new_axes(labels.labels, 1), labels.part};
  y.shape.push_back(classes);
  return {y};
}

void run_one_hot(const KernelCall& call) {
  const auto& y = *call.outputs[0].spec;
  const int64_t classes = y.shape.back();
  check_indices(kOneHotLabels, call.inputs[0], classes);
  auto* to = static_cast<float*>(call.outputs[0].data);
  std::memset(to, 0, y.bytes());
  const int64_t count = call.inputs[0].spec->count();
  for (int64_t i = 0; i < count; ++i) to[i * classes + read_index(call.inputs[0], i)] = 1;
}

Error value_error_one_hot(const ValueErrorCall& call) {
  return index_error(kOneHotLabels, call.inputs[0], call.attributes.integer("classes"), call.position, call.value);
}

}  // namespace

Tensor one_hot(const Tensor& labels, int64_t classes, Place place) {
  static const Op& op = find_op("one_hot");
  return record_one(op, {{"classes", classes}}, {labels}, place);
}

Tensor one_hot_decode(const Tensor& scores, Place place) {
  const int channel = scores.spec(place).labels.find('C');
  return argmax(scores, channel >= 0 ? channel : -1, {}, place);
}

void define_one_hot(OpTable& table) {
  // No gradient: its input is integer.
  table.add({.name = "one_hot",
             .attributes = {"classes"},
             .infer = infer_one_hot,
             .kernel = run_one_hot,
             .cuda = cuda_one_hot,
             .cuda_element = {"retrace/ops/one_hot/one_hot_element_cuda.h", cuda_element_one_hot},
             .value_error = value_error_one_hot,
             .indices = 1});
}

}  // namespace retrace
