#include "retrace/ops/update.h"

namespace retrace {

std::vector<TensorSpec> infer_update(const InferCall& call, std::initializer_list<const char*> tensors,
                                     std::initializer_list<const char*> numbers, size_t outputs) {
  const auto& weights = call.inputs[0];
  check_float(call, 0, *tensors.begin());
  int input = 0;
  for (const char* name : tensors) {
    check_same_type(call, input, name);
    const auto& spec = call.inputs[static_cast<size_t>(input++)];
    if (!(spec.shape == weights.shape))
      op_error(call, 180, fmt::format("{} has another shape than {}", name, *tensors.begin()),
               fmt::format("{} {}, {} {}", *tensors.begin(), weights.text(), name, spec.text()), "equal shapes");
  }
  for (const char* name : numbers) {
    check_same_type(call, input, name);
    check_rank(call, input++, name, 0, "(one number)");
  }
  return std::vector<TensorSpec>(outputs, weights);
}

}  // namespace retrace
