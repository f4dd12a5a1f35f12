#include "retrace/ops/binary_cross_entropy/binary_cross_entropy.h"
#include "retrace/nn/loss_kind.h"

namespace retrace::nn {

LossKind binary_cross_entropy_loss() {
  return {.name = "binary-cross-entropy",
          .help = "cross entropy of sigmoid(y) and targets from 0 to 1, mean over all elements; y are logits",
          .outputs = {OutputKind::image, OutputKind::values},
          .loss = [](const Tensor& y, const Tensor& target) { return binary_cross_entropy(y, target); }};
}

}  // namespace retrace::nn
