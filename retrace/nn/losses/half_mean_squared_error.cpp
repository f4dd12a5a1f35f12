#include "retrace/nn/loss_kind.h"
#include "retrace/ops/mean_squared_error/mean_squared_error.h"

namespace retrace::nn {

LossKind half_mean_squared_error_loss() {
  return {.name = "half-mean-squared-error",
          .help = "half the square of the difference, mean over the samples",
          .outputs = {OutputKind::image, OutputKind::values, OutputKind::series_values},
          .loss = [](const Tensor& y, const Tensor& target) { return half_mean_squared_error(y, target); },
          .squares = true};
}

}  // namespace retrace::nn
