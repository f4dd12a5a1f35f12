#include "retrace/ops/loss.h"

#include "retrace/base/joined.h"

namespace retrace {
namespace {

// Whole numbers with the axes of y but the last, which may be left out or have size 1: numbers of classes.
bool look_like_classes(const TensorSpec& y, const TensorSpec& t) {
  const bool column = t.shape.rank() == y.shape.rank() && t.shape.rank() > 0 && t.shape.back() == 1;
  const int rank = t.shape.rank() - (column ? 1 : 0);
  if (rank != y.shape.rank() - 1 || y.shape.back() < 2) return false;
  for (int axis = 0; axis < rank; ++axis)
    if (t.shape[axis] != y.shape[axis]) return false;
  return true;
}

std::vector<int64_t> leading(const Shape& shape) { return {shape.begin(), shape.end() - 1}; }

// What users of other frameworks mean by whole numbers as targets.
void check_target_type(const InferCall& call) {
  const auto &y = call.inputs[0], &t = call.inputs[1];
  const bool whole = t.type == DType::i32 || t.type == DType::u8 || t.type == DType::i64;
  if (!whole || !look_like_classes(y, t)) return check_same_type(call, 1, "the target");
  const std::string_view op = call.op.name;
  std::string numbers = "t";
  if (t.shape.rank() == y.shape.rank()) numbers = fmt::format("reshape(t, {{{}}})", joined(leading(y.shape), ", "));
  std::string help = fmt::format("one_hot({}, {}) makes targets of class numbers", numbers, y.shape.back());
  if (op == "cross_entropy" || op == "softmax_cross_entropy")
    help = fmt::format("softmax_cross_entropy(logits, {}) takes class numbers, and scores without softmax; {}", numbers,
                       help);
  op_error(call, 116,
           fmt::format("the target holds class numbers ({}), which this loss does not know", name_of(t.type)),
           fmt::format("{} and the target {}", y.text(), t.text()), fmt::format("a target {}", y.text()), help);
}

}  // namespace

std::vector<TensorSpec> infer_loss(const InferCall& call) {
  check_float(call, 0, "the prediction");
  check_target_type(call);
  const auto &y = call.inputs[0], &t = call.inputs[1];
  const bool labels_fit = y.labels.empty() || t.labels.empty() || y.labels == t.labels;
  if (!(y.shape == t.shape) || !labels_fit)
    op_error(call, 139, "prediction and target differ in shape",
             fmt::format("prediction {}, target {}", y.text(), t.text()),
             "the same sizes and labels: losses do not broadcast",
             "one_hot(...) makes targets of class numbers; reshape the target");
  return {{y.type, {}, {}, {}}};
}

int64_t observation_count(const Tensor& y) {
  if (y.labels().empty()) return y.rank() >= 2 ? y.shape()[0] : 1;
  const int batch = y.spec().labels.find('B');
  return batch >= 0 ? y.shape()[batch] : 1;
}

}  // namespace retrace
