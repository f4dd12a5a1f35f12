
#include "retrace/base/copy_bytes.h"
#include "retrace/base/recycle.h"
#include "retrace/base/sanitizers.h"
#include "retrace/device/cpu/memory.h"
#include "retrace/device/cpu/memory_pool.h"
#include "retrace/device/device.h"

namespace retrace {
namespace {

constexpr size_t kAlignment = 64;

MemoryPool& pool() {
  static MemoryPool* instance = new MemoryPool;  // never destroyed: tensors may outlive every static
  return *instance;
}

// Builds with sanitizers see memory that is used after its end.
void* take(size_t bytes) { return RT_SANITIZED ? take_memory(bytes) : pool().take(bytes); }
void give(void* data, size_t bytes) { RT_SANITIZED ? give_memory(data) : pool().give(data, bytes); }

size_t rounded(size_t bytes) { return bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment; }

class CpuBuffer : public Buffer {
 public:
  explicit CpuBuffer(size_t bytes) : Buffer(take(rounded(bytes)), bytes) {}
  ~CpuBuffer() override { give(data(), rounded(bytes())); }
};

class CpuDevice : public Device {
 public:
  DeviceId id() const override { return 0; }
  std::string name() const override { return "cpu"; }
  std::shared_ptr<Buffer> allocate(size_t bytes) override {
    return std::allocate_shared<CpuBuffer>(Recycled<CpuBuffer>(), bytes);
  }
  void copy_from_host(Buffer& to, const void* from, size_t bytes) override {
    if (bytes) copy_bytes(to.data(), from, bytes);
  }
  void copy_to_host(void* to, const Buffer& from, size_t bytes) override {
    if (bytes) copy_bytes(to, from.data(), bytes);
  }
  void synchronize() override {}
};

}  // namespace

Device& cpu_device() {
  static CpuDevice* device = new CpuDevice;
  return *device;
}

}  // namespace retrace
