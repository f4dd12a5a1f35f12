#pragma once
// Copies between host and device through pinned memory of our own: two chunks take turns, so that the host fills or
// empties one while the device copies the other.

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "retrace/device/cuda/driver/driver_context.h"
#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda {

// Calls may come from any thread. Each copy has chunks of its own, and other threads use the device while it waits.
class DriverCopies {
 public:
  static constexpr size_t kChunk = size_t{4} << 20;

  // Pinned memory is taken when it is first needed, and kept.
  explicit DriverCopies(std::shared_ptr<const DriverContext> context) : context_(std::move(context)) {}
  ~DriverCopies();

  // Returns when `from` may be changed.
  void from_host(void* to, const void* from, size_t bytes);
  // Returns when `to` holds the bytes.
  void to_host(void* to, const void* from, size_t bytes);
  void on_device(void* to, const void* from, size_t bytes);
  // See Runtime::start_copy_to_host. What it returns ends before this does.
  // With late_copy (late_copy.h), or by the copy engine where there is no such kernel.
  std::unique_ptr<HostCopy> start_to_host(std::span<const DevicePart> parts, const Kernel* late_copy);

 private:
  struct Chunk {
    void* memory = nullptr;
    CUevent done = nullptr;  // the device's last copy from or to this chunk
  };
  struct Chunks {
    std::array<Chunk, 2> all;
    size_t turn = 0;
  };
  // Chunks that no other copy uses while it lives.
  class Lease;
  class Started;
  void wait(const Chunk& chunk) const;
  void give_back(Chunks& chunks) const;

  std::shared_ptr<const DriverContext> context_;
  std::mutex mutex_;  // of unused_
  std::vector<std::unique_ptr<Chunks>> unused_;
};

}  // namespace retrace::cuda
