#pragma once
// The loss of a step, read while the device computes the next one.

#include <memory>

#include "retrace/device/cuda/runtime.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

class LateLoss {
 public:
  // Nothing else needs to hold the tensor from then on. On the CPU it is read at once.
  explicit LateLoss(const Tensor& loss);
  // Waits for the step, but for no later work of the device. Errors as Tensor::number(), of this step and what came
  // before it.
  double number();

 private:
  double number_ = 0;
  DeviceId device_ = 0;
  std::unique_ptr<cuda::HostCopy> copy_;  // of the loss and what was reported; null once it is read
  bool sees_errors_ = false;
};

}  // namespace retrace
