#pragma once
// An exchange whose memory is that of a CUDA device, from which nothing goes over the host.

#include <memory>

#include "retrace/distributed/device_link.h"
#include "retrace/ops/all_reduce/exchange_layout.h"

namespace retrace {

class DeviceExchange {
 public:
  // All of them outlive this.
  DeviceExchange(DeviceLink& link, const ExchangeLayout& layout, char* memory)
      : link_(link), layout_(layout), memory_(memory) {}

  // Gives the device the copies of what this worker gives, behind the work that makes it.
  void start(const void* const* partials);
  // Both rounds, with the sum between them, on the courier's thread: work of the link's lane.
  void travel(Group& group);
  // After travel(): later work of the device finds the results in `outputs`.
  void finish(void* const* outputs);

 private:
  void add_runs();

  DeviceLink& link_;
  const ExchangeLayout& layout_;
  char* const memory_;
  std::shared_ptr<const cuda::Mark> packed_, arrived_;
};

}  // namespace retrace
