#include "retrace/ops/cross_entropy/cross_entropy.h"

#include "retrace/nn/loss_kind.h"
#include "retrace/ops/one_hot/one_hot.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace::nn {

LossKind cross_entropy_loss() {
  return {.name = "cross-entropy",
          .help = "minus the logarithm of the right class's probability, mean over the samples and positions",
          .outputs = {OutputKind::class_scores, OutputKind::position_scores},
          .loss = [](const Tensor& y, const Tensor& target) {
            const int64_t classes = y.shape().back();
            if (y.rank() == 2) return cross_entropy(y, one_hot(target, classes));
            return cross_entropy(reshape(y, {target.size(), classes}),
                                 one_hot(reshape(target, {target.size()}), classes));
          }};
}

}  // namespace retrace::nn
