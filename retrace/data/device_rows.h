#pragma once
// Data of a source that are kept on CUDA devices: they are made and copied there once, and mini-batches are rows of
// them.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/data/datastore.h"

namespace retrace {

// The form in which a queue delivers a variable.
struct DeviceOutput {
  DeviceId device;  // a CUDA device
  std::optional<DType> cast;
  std::string format;
  auto operator<=>(const DeviceOutput&) const = default;
};

// What is kept of a source, for as long as a queue holds it: all queues over the source share it. Any thread may ask.
class DeviceRows {
 public:
  explicit DeviceRows(std::shared_ptr<const DataSource> source) : source_(std::move(source)) {}
  // Those of that source: the same object for everyone who asks while another one holds it.
  static std::shared_ptr<DeviceRows> of(const std::shared_ptr<const DataSource>& source);

  // Makes the observations with these numbers on the host: a tensor for each output, with the observations along its
  // first axis.
  using Deliver = FunctionRef<std::vector<Tensor>(std::span<const int64_t> indices)>;

  // All `size` observations of the source: a tensor for each output on its device. The first call for these outputs
  // makes them in parts; later calls return the same tensors. The result is empty if they do not fit: what is kept of
  // all sources on a device takes at most a quarter of its memory.
  std::vector<Tensor> find(const std::vector<DeviceOutput>& outputs, int64_t size, Deliver deliver);

 private:
  std::shared_ptr<const DataSource> source_;  // its address tells it from others
  std::mutex mutex_;
  std::map<std::vector<DeviceOutput>, std::vector<Tensor>> kept_;
};

// Bytes that are kept on a CUDA device; 0 for the CPU.
size_t kept_bytes(const Device& device);

// Row order[first + i] of `rows` for i < count, computed on the CUDA device where both are. `order` is an i32 vector of
// numbers of rows.
Tensor gather_batch(const Tensor& rows, const Tensor& order, int64_t first, int64_t count);

}  // namespace retrace
