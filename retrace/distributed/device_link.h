#pragma once
// The device of a member among those of its group, and the way by which what it exchanges gets to the others.

#include <memory>

#include "retrace/device/cuda/runtime.h"
#include "retrace/distributed/device_transport.h"

namespace retrace {

class DeviceLink {
 public:
  // All members agree on a way; all call it at the same point. device: where this member computes; null: the CPU. Null
  // if what is exchanged goes over the host. Throws the same Error(usage) or Error(unavailable) on all members, if the
  // way that RETRACE_EXCHANGE asks for is not there.
  static std::unique_ptr<DeviceLink> agree(Group& group, cuda::Runtime* device);

  cuda::Runtime& runtime() const { return runtime_; }
  cuda::Lane& lane() const { return *lane_; }
  DeviceTransport& transport() const { return *transport_; }

 private:
  DeviceLink(cuda::Runtime& runtime, std::shared_ptr<cuda::Lane> lane) : runtime_(runtime), lane_(std::move(lane)) {}

  cuda::Runtime& runtime_;
  std::shared_ptr<cuda::Lane> lane_;
  std::unique_ptr<DeviceTransport> transport_;
};

// While it lives, exchanges that this thread starts have their tensors and their memory on the link's device.
class LinkScope {
 public:
  explicit LinkScope(DeviceLink* link);
  ~LinkScope();
  LinkScope(const LinkScope&) = delete;
  static DeviceLink* current();  // null: on the host

 private:
  DeviceLink* before_;
};

}  // namespace retrace
