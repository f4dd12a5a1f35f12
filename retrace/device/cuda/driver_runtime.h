#pragma once
// The devices of the CUDA driver.

#include <memory>
#include <string>
#include <vector>

#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda {

// One runtime a device; none, with the reason in `why_not`, where there is no driver or no device.
std::vector<std::unique_ptr<Runtime>> driver_runtimes(std::string& why_not);

}  // namespace retrace::cuda
