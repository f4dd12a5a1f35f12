#include "retrace/device/cuda/driver/driver_context.h"

#include <array>

namespace retrace::cuda {

DriverContext::DriverContext(std::shared_ptr<const Driver> driver, CUdevice device)
    : driver_(std::move(driver)), device_(device) {
  driver_->cuDevicePrimaryCtxRetain(&context_, device_);
  try {
    const ContextScope scope(*this);
    driver_->cuStreamCreate(&stream_, kStreamNonBlocking);
  } catch (...) {
    driver_->cuDevicePrimaryCtxRelease_v2.result(device_);
    throw;
  }
}

DriverContext::~DriverContext() {
  clean_up([&] {
    driver_->cuStreamSynchronize.result(stream_);
    driver_->cuStreamDestroy_v2.result(stream_);
  });
  driver_->cuDevicePrimaryCtxRelease_v2.result(device_);
}

CurrentContext::CurrentContext(const DriverContext& context) : context_(context) {
  context_.driver_->cuCtxPushCurrent_v2(context_.context_);
}

CurrentContext::~CurrentContext() {
  CUcontext popped = nullptr;
  context_.driver_->cuCtxPopCurrent_v2.result(&popped);
}

std::string device_model(const Driver& driver, CUdevice device) {
  std::array<char, 256> text{};
  driver.cuDeviceGetName(text.data(), static_cast<int>(text.size()) - 1, device);
  return text.data();
}

int device_capability(const Driver& driver, CUdevice device) {
  int major = 0, minor = 0;
  driver.cuDeviceGetAttribute(&major, kComputeCapabilityMajor, device);
  driver.cuDeviceGetAttribute(&minor, kComputeCapabilityMinor, device);
  return 10 * major + minor;
}

}  // namespace retrace::cuda
