#include "retrace/device/cuda/cuda_device.h"

#include <fmt/format.h>

#include "retrace/base/error.h"

namespace retrace {
namespace {

class CudaBuffer : public Buffer {
 public:
  CudaBuffer(cuda::Runtime& runtime, size_t bytes) : Buffer(runtime.allocate(bytes), bytes), runtime_(runtime) {}
  ~CudaBuffer() override { runtime_.release(data()); }

 private:
  cuda::Runtime& runtime_;
};

// Never destroyed: tensors may outlive every static.
const std::vector<std::unique_ptr<CudaDevice>>& devices() {
  static const auto& all = *[] {
    auto* made = new std::vector<std::unique_ptr<CudaDevice>>;
    for (const auto& runtime : cuda::runtimes())
      made->push_back(std::make_unique<CudaDevice>(*runtime, static_cast<int>(made->size())));
    return made;
  }();
  return all;
}

}  // namespace

std::string CudaDevice::name() const { return fmt::format("cuda:{}", index_); }

std::shared_ptr<Buffer> CudaDevice::allocate(size_t bytes) { return std::make_shared<CudaBuffer>(runtime_, bytes); }

void CudaDevice::copy_from_host(Buffer& to, const void* from, size_t bytes) {
  if (bytes) runtime_.copy_from_host(to.data(), from, bytes);
}

void CudaDevice::copy_to_host(void* to, const Buffer& from, size_t bytes) {
  if (bytes == 0) return synchronize();
  runtime_.copy_to_host(to, from.data(), bytes);
  value_errors_.check();
}

void CudaDevice::synchronize() {
  runtime_.synchronize();
  value_errors_.check();
}

CudaDevice& cuda_device(int index) {
  ensure(index >= 0 && index < static_cast<int>(devices().size()), "a CUDA device exists");
  return *devices()[static_cast<size_t>(index)];
}

std::vector<Device*> gpus() {
  std::vector<Device*> all;
  for (const auto& device : devices()) all.push_back(device.get());
  return all;
}
int gpu_count() { return static_cast<int>(devices().size()); }
bool can_use_gpu() { return gpu_count() > 0; }
std::string cuda_problem() { return cuda::why_no_runtime(); }

}  // namespace retrace
