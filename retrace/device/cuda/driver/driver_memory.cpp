#include "retrace/device/cuda/driver/driver_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "retrace/base/error.h"

namespace retrace::cuda {
namespace {

CUdeviceptr address_of(void* memory) { return reinterpret_cast<uintptr_t>(memory); }

// Eight sizes for each power of two, so that blocks fit later requests of about their size; at least 512 bytes.
size_t rounded(size_t bytes) {
  const size_t step = std::max<size_t>(512, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

Error exhausted(size_t bytes, size_t unused, size_t total, size_t ours) {
  const auto mib = [](size_t count) { return fmt::format("{:.1f} MiB", static_cast<double>(count) / (1 << 20)); };
  return Error(ErrorKind::unavailable, 635, "cuda: the device's memory is exhausted")
      .got(fmt::format("{} asked for; {} of {} free, {} in use here", mib(bytes), mib(unused), mib(total), mib(ours)))
      .help("use smaller batches, or end other programs on this device");
}

}  // namespace

DriverMemory::~DriverMemory() {
  context_->clean_up([&] {
    context_->driver().cuStreamSynchronize.result(context_->stream());
    for (const auto& [memory, bytes] : used_) context_->driver().cuMemFree_v2.result(address_of(memory));
    for (const auto& [bytes, memory] : unused_) context_->driver().cuMemFree_v2.result(address_of(memory));
    for (void* memory : on_host_) context_->driver().cuMemFreeHost.result(memory);
  });
}

void* DriverMemory::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes > SIZE_MAX / 2) throw exhausted(bytes, 0, 0, 0);
  const size_t size = rounded(bytes);
  if (const auto block = unused_.lower_bound(size); block != unused_.end() && block->first <= size + size / 8) {
    auto* const memory = block->second;
    used_.emplace(memory, block->first);
    unused_.erase(block);
    return memory;
  }
  void* memory = allocate_anew(size);
  if (!memory) {
    give_back_unused();
    memory = allocate_anew(size);
  }
  if (!memory) {
    size_t unused = 0, total = 0, ours = 0;
    context_->driver().cuMemGetInfo_v2(&unused, &total);
    for (const auto& [block, count] : used_) ours += count;
    throw exhausted(bytes, unused, total, ours);
  }
  used_.emplace(memory, size);
  return memory;
}

void DriverMemory::release(void* memory) {
  if (!memory) return;
  const auto block = used_.find(memory);
  ensure(block != used_.end(), "memory that is released was allocated on this device");
  // Before others of its size: the next request takes what was released last, so that a loop meets few addresses.
  unused_.emplace_hint(unused_.lower_bound(block->second), block->second, memory);
  used_.erase(block);
}

void* DriverMemory::allocate_on_host(size_t bytes) {
  void*& memory = on_host_.emplace_back();
  context_->driver().cuMemAllocHost_v2(&memory, bytes);
  return std::memset(memory, 0, bytes);
}

size_t DriverMemory::total() const {
  size_t unused = 0, total = 0;
  context_->driver().cuMemGetInfo_v2(&unused, &total);
  return total;
}

void* DriverMemory::allocate_anew(size_t bytes) {
  CUdeviceptr address = 0;
  const CUresult failure = context_->driver().cuMemAlloc_v2.result(&address, bytes);
  if (failure == kErrorOutOfMemory) return nullptr;
  if (failure) context_->driver().fail("cuMemAlloc_v2", failure);
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

void DriverMemory::give_back_unused() {
  context_->synchronize();
  for (const auto& [bytes, memory] : unused_) context_->driver().cuMemFree_v2(address_of(memory));
  unused_.clear();
}

}  // namespace retrace::cuda
