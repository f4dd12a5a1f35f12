#include "retrace/ops/loss.h"

namespace retrace {

std::vector<TensorSpec> infer_loss(const InferCall& call) {
  check_float(call, 0, "the prediction");
  check_same_type(call, 1, "the target");
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
