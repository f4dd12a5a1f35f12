#pragma once
// Copies between host and device through pinned memory of our own: two chunks take turns, so that the host fills or
// empties one while the device copies the other.

#include <array>
#include <cstddef>
#include <memory>

#include "retrace/device/cuda/driver_context.h"

namespace retrace::cuda {

// Calls are made under a ContextScope.
class DriverCopies {
 public:
  static constexpr size_t kChunk = size_t{4} << 20;

  // The pinned memory is taken when the first copy is made.
  explicit DriverCopies(std::shared_ptr<const DriverContext> context) : context_(std::move(context)) {}
  ~DriverCopies();

  // Returns when `from` may be changed.
  void from_host(void* to, const void* from, size_t bytes);
  // Returns when `to` holds the bytes.
  void to_host(void* to, const void* from, size_t bytes);
  void on_device(void* to, const void* from, size_t bytes);

 private:
  struct Chunk {
    void* memory = nullptr;
    CUevent done = nullptr;  // the device's last copy from or to this chunk
  };
  void prepare();

  std::shared_ptr<const DriverContext> context_;
  std::array<Chunk, 2> chunks_;
  size_t turn_ = 0;
};

}  // namespace retrace::cuda
