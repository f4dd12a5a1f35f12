#include "retrace/ops/cross_entropy/cross_entropy.h"

#include "retrace/nn/loss_kind.h"
#include "retrace/ops/one_hot/one_hot.h"

namespace retrace::nn {

LossKind cross_entropy_loss() {
  return {.name = "cross-entropy",
          .help = "minus the logarithm of the right class's probability, mean over the samples",
          .outputs = {OutputKind::class_scores},
          .loss = [](const Tensor& y, const Tensor& target) {
            return cross_entropy(y, one_hot(target, y.shape().back()));
          }};
}

}  // namespace retrace::nn
