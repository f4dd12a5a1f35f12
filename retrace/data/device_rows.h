#pragma once
// Data of a source that are kept on CUDA devices: they are made and copied there once, and mini-batches are rows of
// them.

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// How a queue delivers a variable.
struct DeviceOutput {
  DeviceId device;  // a CUDA device
  std::optional<DType> cast;
  std::string format;
  auto operator<=>(const DeviceOutput&) const = default;
};

// Belongs to a source, and lives as long: all queues over it share what it keeps. Any thread may ask.
class DeviceRows {
 public:
  // Makes the observations with these numbers, on the host: a tensor for each output, whose first axis they are.
  using Deliver = FunctionRef<std::vector<Tensor>(std::span<const int64_t> indices)>;

  // All `size` observations, a tensor for each output on its device: made in parts by the first call for these outputs,
  // and what that returned by any other. Nothing where they do not fit: what is kept on a device, by all sources, takes
  // at most a quarter of its memory.
  std::vector<Tensor> find(const std::vector<DeviceOutput>& outputs, int64_t size, Deliver deliver);

 private:
  std::mutex mutex_;
  std::map<std::vector<DeviceOutput>, std::vector<Tensor>> kept_;
};

// Bytes that sources keep on a CUDA device; 0 for the CPU.
size_t kept_bytes(const Device& device);

// Row order[first + i] of `rows` for i < count, computed on the CUDA device where both are. `order` is an i32 vector of
// numbers of rows.
Tensor gather_batch(const Tensor& rows, const Tensor& order, int64_t first, int64_t count);

}  // namespace retrace
