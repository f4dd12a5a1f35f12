#include "retrace/data/device_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

#include "retrace/device/cuda/cuda_device.h"
#include "retrace/device/cuda/launches.h"
#include "retrace/ops/op.h"

namespace retrace {
namespace {

constexpr size_t kPartBytes = size_t{64} << 20;  // made on the host at a time

CudaDevice& cuda_device_of(const Device& device) { return cuda_device(device.id() - 1); }

std::atomic<size_t>& kept_on(const Device& device) {
  static std::array<std::atomic<size_t>, 128> bytes;  // by DeviceId
  return bytes[static_cast<size_t>(device.id())];
}

// Memory that counts as kept.
class KeptBuffer : public Buffer {
 public:
  // Null if it does not fit.
  static std::shared_ptr<Buffer> make(CudaDevice& device, size_t bytes) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (kept_on(device) + bytes > device.runtime().memory() / 4) return nullptr;
    try {
      return std::make_shared<KeptBuffer>(device.allocate(bytes), kept_on(device));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unavailable) throw;
      return nullptr;
    }
  }
  KeptBuffer(std::shared_ptr<Buffer> memory, std::atomic<size_t>& kept)
      : Buffer(memory->data(), memory->bytes()), memory_(std::move(memory)), kept_(kept) {
    kept_ += bytes();
  }
  ~KeptBuffer() override { kept_ -= bytes(); }

 private:
  std::shared_ptr<Buffer> memory_;
  std::atomic<size_t>& kept_;
};

size_t row_bytes(const TensorSpec& spec) {
  return static_cast<size_t>(spec.shape.count(1, spec.shape.rank())) * size_of(spec.type);
}

// Tensors for `size` rows, not yet filled; nothing if they do not fit.
std::vector<Tensor> blank_rows(const std::vector<DeviceOutput>& outputs, int64_t size, DeviceRows::Deliver deliver) {
  const std::vector<Tensor> none = deliver({});
  std::vector<Tensor> rows;
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorSpec spec = none[i].spec();
    spec.shape[0] = size, spec.device = outputs[i].device;
    auto buffer = KeptBuffer::make(cuda_device(outputs[i].device - 1), spec.bytes());
    if (!buffer) return {};
    rows.emplace_back(new_tensor_value(spec, std::move(buffer)));
  }
  return rows;
}

std::vector<Tensor> make_rows(const std::vector<DeviceOutput>& outputs, int64_t size, DeviceRows::Deliver deliver) {
  std::vector<Tensor> rows = blank_rows(outputs, size, deliver);
  size_t bytes = 1;
  for (const auto& tensor : rows) bytes += row_bytes(tensor.spec());
  const auto at_once = std::max<int64_t>(1, static_cast<int64_t>(kPartBytes / bytes));
  for (int64_t first = 0; first < size && !rows.empty(); first += at_once) {
    std::vector<int64_t> indices(static_cast<size_t>(std::min(at_once, size - first)));
    std::iota(indices.begin(), indices.end(), first);
    const std::vector<Tensor> part = deliver(indices);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto begin = static_cast<size_t>(first) * row_bytes(rows[i].spec());
      auto* const to = static_cast<std::byte*>(rows[i].value()->buffer->data());
      const size_t count = part[i].spec().bytes();
      if (count) cuda_device_of(rows[i].device()).runtime().copy_from_host(to + begin, part[i].data(), count);
    }
  }
  return rows;
}

// The target of errors about row numbers that do not exist: orders are made by queues, so they are our mistakes. One
// for each device, for as long as the process lives.
cuda::ErrorTarget errors_of(CudaDevice& device) {
  static std::mutex mutex;
  static auto& sources = *new std::map<DeviceId, cuda::ValueErrors::Source>;
  const std::lock_guard lock(mutex);
  const auto describe = [](int64_t position, int32_t row) {
    return Error(ErrorKind::internal, 629, "a mini-batch takes a row that its data do not have")
        .got(fmt::format("row {} at [{}]", row, position))
        .help("this is a defect of retrace: please report it with the job and this text");
  };
  return sources.try_emplace(device.id(), device.value_errors(), describe).first->second.target();
}

}  // namespace

std::shared_ptr<DeviceRows> DeviceRows::of(const std::shared_ptr<const DataSource>& source) {
  static std::mutex mutex;
  static auto& all = *new std::map<const DataSource*, std::weak_ptr<DeviceRows>>;
  const std::lock_guard lock(mutex);
  if (auto known = all[source.get()].lock()) return known;
  std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
  auto made = std::make_shared<DeviceRows>(source);
  all[source.get()] = made;
  return made;
}

std::vector<Tensor> DeviceRows::find(const std::vector<DeviceOutput>& outputs, int64_t size, Deliver deliver) {
  const std::lock_guard lock(mutex_);
  if (const auto known = kept_.find(outputs); known != kept_.end()) return known->second;
  return kept_[outputs] = make_rows(outputs, size, deliver);
}

size_t kept_bytes(const Device& device) { return kept_on(device); }

Tensor gather_batch(const Tensor& rows, const Tensor& order, int64_t first, int64_t count) {
  static const Op& op = find_op("gather_rows");
  CudaDevice& device = cuda_device_of(rows.device());
  const TensorSpec index{DType::i32, {count}, {}, {}, device.id()};
  TensorSpec spec = rows.spec();
  spec.shape[0] = count;
  auto buffer = device.allocate(spec.bytes());
  const auto* numbers = static_cast<const int32_t*>(order.value()->buffer->data()) + first;
  const KernelInput inputs[] = {{rows.value()->buffer->data(), &rows.spec()}, {numbers, &index}};
  const KernelOutput output{buffer->data(), &spec};
  const Attributes none;
  cuda::Launches launches(device.runtime());
  op.cuda({none, inputs, std::span(&output, 1), nullptr, launches, errors_of(device)});
  for (const auto& launch : launches.all()) device.runtime().launch(launch);
  return Tensor(new_tensor_value(spec, std::move(buffer)));
}

}  // namespace retrace
