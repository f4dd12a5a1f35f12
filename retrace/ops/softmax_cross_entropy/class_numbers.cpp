#include "retrace/ops/softmax_cross_entropy/class_numbers.h"

#include "retrace/ops/cast/cast.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/gather_rows/gather_rows_cuda.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {
namespace {

constexpr IndexNames kClassNumbersLabels{"softmax_cross_entropy", "label",
                                         "count labels from 0, or ask for more classes"};
constexpr int64_t kMostClasses = int64_t{1} << 24;  // f32 holds every number up to here

std::vector<TensorSpec> infer_numbers(const InferCall& call) {
  const auto &classes = call.inputs[0], &numbers = call.inputs[1];
  check_float(call, 0, "the classes");
  check_type(call, 1, "the labels", DType::i32);
  return {{classes.type, numbers.shape, numbers.labels, numbers.part}};
}

template <class T>
void convert_class_numbers(const KernelCall& call) {
  const auto* from = static_cast<const int32_t*>(call.inputs[1].data);
  auto* to = static_cast<T*>(call.outputs[0].data);
  for (int64_t i = 0, count = call.inputs[1].spec->count(); i < count; ++i) to[i] = static_cast<T>(from[i]);
}

void run_numbers(const KernelCall& call) {
  check_indices(kClassNumbersLabels, call.inputs[1], call.inputs[0].spec->shape[0]);
  return call.outputs[0].spec->type == DType::f32 ? convert_class_numbers<float>(call)
                                                  : convert_class_numbers<double>(call);
}

Error value_error_class_numbers(const ValueErrorCall& call) {
  return index_error(kClassNumbersLabels, call.inputs[1], call.inputs[0].shape[0], call.position, call.value);
}

}  // namespace

bool are_class_numbers(const Tensor& x, const Tensor& t, Place place) {
  return is_index_type(t.type(place)) && t.rank() + 1 == x.rank(place);
}

bool can_compare_classes(const Tensor& x, const Tensor& t) {
  const int last = x.rank() - 1, channel = x.spec().labels.find('C');
  if (!is_float(x.type()) || (channel >= 0 && channel != last)) return false;
  if (!std::equal(t.shape().begin(), t.shape().end(), x.shape().begin())) return false;
  if (!x.labels().empty() && !t.labels().empty() && x.spec().labels != with_new_axes(t.spec().labels, 1)) return false;
  return x.shape().back() > 0 && x.shape().back() <= kMostClasses;
}

ClassTargets class_targets(const Tensor& x, const Tensor& t, Place place) {
  static const Op& op = find_op("class_numbers");
  const auto count = static_cast<double>(x.shape().back());
  const Tensor classes = Tensor::arange(count, x.type(), place).to(x.device());
  const Tensor index = as_index(t, place);
  Shape column = t.shape();
  column.push_back(1);
  const std::string labels(x.labels());
  return {reshape(record_one(op, {}, {classes, index}, place), column, labels, place),
          labels.empty() ? classes : reshape(classes, classes.shape(), labels.substr(labels.size() - 1), place)};
}

Tensor hits(const Tensor& numbers, const Tensor& classes, Place place) {
  return cast(equal(numbers, classes, place), numbers.type(), place);
}

void define_class_numbers(OpTable& table) {
  // No gradient: its input is integer.
  table.add({.name = "class_numbers",
             .inputs = 2,
             .infer = infer_numbers,
             .kernel = run_numbers,
             .cuda = cuda_gather_rows,
             .value_error = value_error_class_numbers});
}

}  // namespace retrace
