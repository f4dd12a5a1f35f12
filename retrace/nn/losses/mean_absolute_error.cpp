#include "retrace/nn/loss_kind.h"
#include "retrace/ops/absolute_error/absolute_error.h"

namespace retrace::nn {

LossKind mean_absolute_error_loss() {
  return {.name = "mean-absolute-error",
          .help = "size of the difference, mean over all elements",
          .outputs = {OutputKind::image, OutputKind::values, OutputKind::series_values},
          .loss = [](const Tensor& y, const Tensor& target) { return mean_absolute_error(y, target); },
          .mean = true};
}

}  // namespace retrace::nn
