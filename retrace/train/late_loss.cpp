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
  const cuda::DevicePart errors = device.value_errors().reported();
  sees_errors_ = errors.bytes > 0;
  const cuda::DevicePart parts[] = {{loss.value()->buffer->data(), sizeof(float)}, errors};
  copy_ = device.runtime().start_copy_to_host(std::span(parts, sees_errors_ ? 2 : 1));
}

double LateLoss::number() {
  if (!copy_) return number_;
  const auto copy = std::move(copy_);
  const auto* words = static_cast<const std::byte*>(copy->wait());
  float value = 0;
  std::memcpy(&value, words, sizeof value);
  if (sees_errors_) cuda_device(device_ - 1).value_errors().check(words + sizeof value);
  return number_ = static_cast<double>(value);
}

}  // namespace retrace
