#include "retrace/optim/full_batch.h"

#include <cmath>
#include <iterator>
#include <utility>

#include "retrace/ops/abs/abs.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/max/max.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {

std::vector<OptionRule> full_batch_rules(std::vector<OptionRule> own) {
  own.push_back({.name = "gradient_tolerance",
                 .help = "the training ends where no element of the gradient is larger",
                 .standard = 1e-5,
                 .high = 1e30});
  own.push_back({.name = "step_tolerance",
                 .help = "the training ends where a step changes no element by more",
                 .standard = 1e-5,
                 .high = 1e30});
  return own;
}

Tree full_batch_state(Tree own) {
  own["begun"] = Tensor::scalar(int32_t{0});
  own["end"] = Tensor::scalar(int32_t{0});
  own["loss"] = Tensor::scalar(0.0f);
  return own;
}

Tree full_batch_state(Tree own, const FullBatchSizes& sizes, const OptionValues& options) {
  own["begun"] = Tensor::scalar(int32_t{1});
  own["loss"] = Tensor::scalar(static_cast<float>(sizes.loss));
  if (sizes.gradient <= options.number("gradient_tolerance")) return with_end(own, FullBatchEnd::gradient_tolerance);
  if (sizes.step == 0) return with_end(own, FullBatchEnd::nothing_better);
  const bool small = sizes.step <= options.number("step_tolerance");
  return with_end(own, small ? FullBatchEnd::step_tolerance : FullBatchEnd::none);
}

Tree with_end(Tree state, FullBatchEnd end) {
  state["end"] = Tensor::scalar(static_cast<int32_t>(end));
  return state;
}

bool has_begun(const Tree& state) { return state["begun"].tensor().number() != 0; }
double loss_of(const Tree& state) { return state["loss"].tensor().number(); }
FullBatchEnd end_of(const Tree& state) {
  return static_cast<FullBatchEnd>(static_cast<int>(state["end"].tensor().number()));
}

Tensor flat_leaves(const Tree& tree) {
  std::vector<Tensor> parts;
  for (const Tensor& tensor : leaf_tensors(tree)) parts.push_back(reshape(tensor, {tensor.size()}));
  return concatenate(parts, 0);
}

Tree as_leaves(const Tree& structure, const Tensor& flat) {
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (const Tensor& like : leaf_tensors(structure)) {
    const Tensor part = slice(flat, 0, {at, at + like.size()});
    parts.push_back(reshape(part, like.shape(), like.labels()));
    at += like.size();
  }
  return with_leaves(structure, parts);
}

double largest_size(const Tensor& x) { return x.size() == 0 ? 0 : max(abs(x)).number(); }

bool is_finite(const Tree& gradients) {
  const Tensor g = flat_leaves(gradients);
  return std::isfinite(sum(multiply(g, g)).number());
}

FullBatchStep not_finite(const Tree& parameters, const Tree& state) {
  return {.parameters = parameters, .state = state, .is_finite = false};
}

}  // namespace retrace
