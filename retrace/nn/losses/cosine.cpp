#include "retrace/nn/loss_kind.h"
#include "retrace/ops/cosine_similarity/cosine_similarity.h"

namespace retrace::nn {

LossKind cosine_loss() {
  return {.name = "cosine",
          .help = "1 less the cosine of the angle to the target, mean over the samples",
          .outputs = {OutputKind::values},
          .loss = [](const Tensor& y, const Tensor& target) { return retrace::cosine_loss(y, target); }};
}

}  // namespace retrace::nn
