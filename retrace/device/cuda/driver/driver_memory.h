#pragma once
// Memory of a device, kept for reuse: the driver's own allocation is slow and may wait for the device. All work is in
// one stream, so a block that was given back may be taken again at once: its next user works later in that order.

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "retrace/device/cuda/driver/driver_context.h"

namespace retrace::cuda {

// Calls are made under a ContextScope.
class DriverMemory {
 public:
  explicit DriverMemory(std::shared_ptr<const DriverContext> context) : context_(std::move(context)) {}
  // Gives everything back to the driver, also what is still in use.
  ~DriverMemory();

  // Aligned to 256 bytes; null for no bytes. Unused blocks go back to the driver before this fails with
  // Error(unavailable).
  void* allocate(size_t bytes);
  // Takes what allocate() returned; null is fine. It does not call the driver, so no context need be current.
  void release(void* memory);
  // Pinned memory of the host, zeros: it has one address for host and device, as all that the driver allocates.
  void* allocate_on_host(size_t bytes);
  // Bytes that the device has.
  size_t total() const;

 private:
  // Null if the driver has no such block; other failures are thrown.
  void* allocate_anew(size_t bytes);
  void give_back_unused();

  std::shared_ptr<const DriverContext> context_;
  std::map<void*, size_t> used_;
  std::multimap<size_t, void*> unused_;
  std::vector<void*> on_host_;
};

}  // namespace retrace::cuda
