#include "retrace/train/late_loss.h"

#include <cstring>

#include "retrace/device/cuda/cuda_device.h"

namespace retrace {

LateLoss::LateLoss(const Tensor& loss) {
  evaluate(loss);
  if (loss.device().id() == 0 || loss.type() != DType::f32 || loss.size() != 1) {
    number_ = loss.number();
    return;
  }
  device_ = loss.device().id();
  CudaDevice& device = cuda_device(device_ - 1);
  copy_ = device.runtime().start_copy_to_host(loss.value()->buffer->data(), sizeof(float));
  errors_ = device.value_errors().start_look();
}

double LateLoss::number() {
  if (!copy_) return number_;
  float value = 0;
  std::memcpy(&value, copy_->wait(), sizeof value);
  const auto look = std::move(errors_);
  copy_.reset();
  cuda_device(device_ - 1).value_errors().check(look.get());
  return number_ = static_cast<double>(value);
}

}  // namespace retrace
