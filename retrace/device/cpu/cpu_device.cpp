#include <array>
#include <cstring>
#include <mutex>

#include "retrace/base/recycle.h"
#include "retrace/device/cpu/memory.h"
#include "retrace/device/device.h"

namespace retrace {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kKeptBytes = size_t{32} << 20;  // free blocks kept for reuse

// Free blocks by size: a training step asks for the same sizes again and again.
class Pool {
 public:
  void* take(size_t bytes) {
    {
      std::lock_guard lock(mutex_);
      for (size_t i = count_; i-- > 0;)
        if (free_[i].bytes == bytes) {
          void* data = free_[i].data;
          free_[i] = free_[--count_];
          kept_ -= bytes;
          return data;
        }
    }
    return take_memory(bytes);
  }
  void give(void* data, size_t bytes) noexcept {
    {
      std::lock_guard lock(mutex_);
      if (kept_ + bytes <= kKeptBytes && count_ < free_.size()) {
        free_[count_++] = {data, bytes};
        kept_ += bytes;
        return;
      }
    }
    give_memory(data);
  }

 private:
  struct Block {
    void* data;
    size_t bytes;
  };
  std::mutex mutex_;
  std::array<Block, 256> free_;  // the first count_
  size_t count_ = 0;
  size_t kept_ = 0;
};

Pool& pool() {
  static Pool* instance = new Pool;  // never destroyed: tensors may outlive every static
  return *instance;
}

size_t rounded(size_t bytes) { return bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment; }

class CpuBuffer : public Buffer {
 public:
  explicit CpuBuffer(size_t bytes) : Buffer(pool().take(rounded(bytes)), bytes) {}
  ~CpuBuffer() override { pool().give(data(), rounded(bytes())); }
};

class CpuDevice : public Device {
 public:
  DeviceId id() const override { return 0; }
  std::string name() const override { return "cpu"; }
  std::shared_ptr<Buffer> allocate(size_t bytes) override {
    return std::allocate_shared<CpuBuffer>(Recycled<CpuBuffer>(), bytes);
  }
  void copy_from_host(Buffer& to, const void* from, size_t bytes) override {
    if (bytes) std::memcpy(to.data(), from, bytes);
  }
  void copy_to_host(void* to, const Buffer& from, size_t bytes) override {
    if (bytes) std::memcpy(to, from.data(), bytes);
  }
  void synchronize() override {}
};

}  // namespace

Device& cpu_device() {
  static CpuDevice* device = new CpuDevice;
  return *device;
}

}  // namespace retrace
