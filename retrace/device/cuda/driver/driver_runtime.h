#pragma once
// CUDA devices through the driver.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "retrace/device/cuda/embedded.h"
#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda {

// The devices that CUDA_VISIBLE_DEVICES leaves and that can run our kernels (compute capability 8.0 or newer), in the
// driver's order. Where there are none, `why_not` says why: no driver, a driver that is too old or does not start, no
// device, devices that are too old. A device's context is made when it is first used.
std::vector<std::unique_ptr<Runtime>> driver_runtimes(std::string& why_not,
                                                      std::span<const KernelImage> images = kernel_images());

}  // namespace retrace::cuda
