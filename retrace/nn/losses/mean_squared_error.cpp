#include "retrace/ops/mean_squared_error/mean_squared_error.h"
#include "retrace/nn/loss_kind.h"

namespace retrace::nn {

LossKind mean_squared_error_loss() {
  return {.name = "mean-squared-error",
          .help = "square of the difference, mean over all elements",
          .outputs = {OutputKind::image, OutputKind::values, OutputKind::series_values},
          .loss = [](const Tensor& y, const Tensor& target) { return mean_squared_error(y, target); },
          .squares = true,
          .mean = true};
}

}  // namespace retrace::nn
