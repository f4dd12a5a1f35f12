#include "retrace/nn/loss_kind.h"
#include "retrace/ops/likelihood_loss/likelihood_loss.h"

namespace retrace::nn {

LossKind poisson_loss() {
  return {.name = "poisson",
          .help = "of counts t whose rates are exp(y): mean of exp(y) - t y over all elements",
          .outputs = {OutputKind::image, OutputKind::values},
          .loss = [](const Tensor& y, const Tensor& target) { return retrace::poisson_loss(y, target); }};
}

}  // namespace retrace::nn
