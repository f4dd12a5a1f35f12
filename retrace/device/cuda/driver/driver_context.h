#pragma once
// One device as the driver gives it: its primary context and the one stream that orders all work.

#include <memory>
#include <mutex>
#include <string>

#include "retrace/device/cuda/driver/driver.h"

namespace retrace::cuda {

class DriverContext {
 public:
  // Holds the primary context of `device`, which other libraries of the process share, until it is destroyed.
  DriverContext(std::shared_ptr<const Driver> driver, CUdevice device);
  ~DriverContext();
  DriverContext(const DriverContext&) = delete;

  const Driver& driver() const { return *driver_; }
  CUstream stream() const { return stream_; }
  CUcontext context() const { return context_; }
  CUdevice device() const { return device_; }
  // The kind of scope: CurrentContext, so that other threads can go on, unless what follows must come at once.
  void synchronize() const { driver_->cuStreamSynchronize(stream_); }

  // body() while no other thread uses the device, without a call of the driver: also where it has ended before the
  // process.
  template <class Body>
  void alone(Body body) const {
    const std::lock_guard lock(mutex_);
    body();
  }

  // For destructors: body() with the context current, or nothing if the driver refuses, as it does at the end of a
  // process. The body takes the driver's answers with result().
  template <class Body>
  void clean_up(Body body) const {
    const std::lock_guard lock(mutex_);
    if (driver_->cuCtxPushCurrent_v2.result(context_)) return;
    body();
    CUcontext popped = nullptr;
    driver_->cuCtxPopCurrent_v2.result(&popped);
  }

 private:
  friend class CurrentContext;
  friend class ContextScope;
  std::shared_ptr<const Driver> driver_;
  CUdevice device_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  mutable std::mutex mutex_;
};

// While it lives, calls of this thread go to the device; afterwards the thread has the context that it had before.
// Other threads may call as well: for calls that wait.
class CurrentContext {
 public:
  explicit CurrentContext(const DriverContext& context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;

 private:
  const DriverContext& context_;
};

// While it lives, calls of this thread go to the device and no other thread's do.
class ContextScope {
 public:
  explicit ContextScope(const DriverContext& context) : lock_(context.mutex_), current_(context) {}

 private:
  std::lock_guard<std::mutex> lock_;
  CurrentContext current_;
};

// "NVIDIA H100 80GB HBM3"
std::string device_model(const Driver& driver, CUdevice device);
// 90 for compute capability 9.0.
int device_capability(const Driver& driver, CUdevice device);

}  // namespace retrace::cuda
