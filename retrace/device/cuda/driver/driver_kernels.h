#pragma once
// Kernels of a device: loaded from images, launched one by one or as graphs.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/device/cuda/driver/driver_context.h"
#include "retrace/device/cuda/embedded.h"
#include "retrace/device/cuda/nvrtc.h"
#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda {

class DriverKernel final : public Kernel {
 public:
  DriverKernel(std::string name, CUfunction function, bool waits)
      : Kernel(std::move(name)), function_(function), waits_(waits) {}
  CUfunction function() const { return function_; }
  // Whether it waits itself for the launch before it (kernel_device.h): code for compute capability 9.0 or newer.
  bool waits() const { return waits_; }
  // More dynamic shared memory than every kernel may have (48 KiB) has to be asked for once.
  void allow_shared(const Driver& driver, size_t bytes) const;

 private:
  CUfunction function_;
  bool waits_;
  mutable size_t allowed_shared_ = size_t{48} << 10;
};

// An image on the device. Calls are made under a ContextScope.
class DriverModule {
 public:
  // `image`: machine code, a fat binary, or PTX that ends with a zero.
  DriverModule(std::shared_ptr<const DriverContext> context, const void* image);
  ~DriverModule();
  DriverModule(const DriverModule&) = delete;
  // The kernel of this name (kernels have C linkage), which the image has.
  const Kernel& find(std::string_view name);

 private:
  std::shared_ptr<const DriverContext> context_;
  CUmodule module_ = nullptr;
  std::map<std::string, std::unique_ptr<DriverKernel>, std::less<>> kernels_;
};

// All kernels of a device. Calls are made under a ContextScope.
class DriverKernels {
 public:
  // `capability`: of the device, 90 for 9.0.
  DriverKernels(std::shared_ptr<const DriverContext> context, std::span<const KernelImage> images, int capability)
      : context_(std::move(context)), images_(images), capability_(capability) {}

  // See Runtime::find_kernel and Runtime::compile. An image is loaded when the first of its kernels is asked for: no
  // call of the driver fails where all is well, so that tools which report failures stay silent.
  const Kernel& find(std::string_view name);
  // The module that a source is compiled to; it is the same module while it is held. Its destructor takes the device's
  // lock: the last holder lets go of it outside of a ContextScope.
  std::shared_ptr<DriverModule> compile(const std::string& source);

 private:
  std::shared_ptr<const DriverContext> context_;
  std::span<const KernelImage> images_;
  int capability_;
  std::map<const KernelImage*, std::unique_ptr<DriverModule>> loaded_;
  std::map<std::string, const Kernel*, std::less<>> found_;
  std::unique_ptr<const Nvrtc> nvrtc_;
  std::map<std::string, std::weak_ptr<DriverModule>> compiled_;  // by their source
};

// All are called under a ContextScope. A graph makes its own when it is used.
void launch(const DriverContext& context, const Launch& launch, CUstream stream);
// See Runtime::time.
std::vector<double> time_launches(const DriverContext& context, std::span<const Launch> launches);
std::unique_ptr<Graph> make_graph(std::shared_ptr<const DriverContext> context, std::span<const Launch> launches,
                                  const Edges& edges);

}  // namespace retrace::cuda
