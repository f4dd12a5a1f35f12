#include "retrace/nn/loss_kind.h"
#include "retrace/ops/absolute_error/absolute_error.h"

namespace retrace::nn {

LossKind huber_loss() {
  return {.name = "huber",
          .help = "half the square of a difference up to 1, beyond that its size less a half; mean over all elements",
          .outputs = {OutputKind::image, OutputKind::values, OutputKind::series_values},
          .loss = [](const Tensor& y, const Tensor& target) { return huber(y, target); },
          .mean = true};
}

}  // namespace retrace::nn
