#pragma once
// A CUDA device as a place where tensors live.

#include "retrace/device/cuda/runtime.h"
#include "retrace/device/cuda/value_errors.h"
#include "retrace/device/device.h"

namespace retrace {

class CudaDevice : public Device {
 public:
  CudaDevice(cuda::Runtime& runtime, int index) : runtime_(runtime), value_errors_(runtime), index_(index) {}
  DeviceId id() const override { return static_cast<DeviceId>(index_ + 1); }
  std::string name() const override;
  bool is_emulated() const override { return runtime_.is_emulated(); }
  std::shared_ptr<Buffer> allocate(size_t bytes) override;
  void copy_from_host(Buffer& to, const void* from, size_t bytes) override;
  void copy_to_host(void* to, const Buffer& from, size_t bytes) override;
  void synchronize() override;
  cuda::Runtime& runtime() const { return runtime_; }
  // Thrown by copy_to_host() and synchronize().
  cuda::ValueErrors& value_errors() { return value_errors_; }

 private:
  cuda::Runtime& runtime_;
  cuda::ValueErrors value_errors_;
  int index_;
};

// One for each of cuda::runtimes().
CudaDevice& cuda_device(int index);

}  // namespace retrace
