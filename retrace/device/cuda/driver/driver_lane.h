#pragma once
// A second stream of a device, and events as marks.

#include <memory>

#include "retrace/device/cuda/driver/driver_context.h"
#include "retrace/device/cuda/lane.h"

namespace retrace::cuda {

std::unique_ptr<Lane> make_driver_lane(std::shared_ptr<const DriverContext> context);

}  // namespace retrace::cuda
