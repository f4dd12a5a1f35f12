#include "retrace/device/cuda/driver_copies.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace retrace::cuda {
namespace {

CUdeviceptr address_of(const void* memory, size_t offset = 0) { return reinterpret_cast<uintptr_t>(memory) + offset; }

}  // namespace

DriverCopies::~DriverCopies() {
  const Driver& driver = context_->driver();
  context_->clean_up([&] {
    driver.cuStreamSynchronize.result(context_->stream());
    for (const auto& chunk : chunks_) {
      if (chunk.done) driver.cuEventDestroy_v2.result(chunk.done);
      if (chunk.memory) driver.cuMemFreeHost.result(chunk.memory);
    }
  });
}

void DriverCopies::prepare() {
  const Driver& driver = context_->driver();
  for (auto& chunk : chunks_) {
    if (!chunk.memory) driver.cuMemAllocHost_v2(&chunk.memory, kChunk);
    if (!chunk.done) driver.cuEventCreate(&chunk.done, kEventDisableTiming);
  }
}

void DriverCopies::from_host(void* to, const void* from, size_t bytes) {
  const Driver& driver = context_->driver();
  if (bytes) prepare();
  for (size_t begin = 0; begin < bytes; begin += kChunk) {
    const size_t count = std::min(kChunk, bytes - begin);
    const Chunk& chunk = chunks_[turn_++ % chunks_.size()];
    driver.cuEventSynchronize(chunk.done);
    std::memcpy(chunk.memory, static_cast<const std::byte*>(from) + begin, count);
    driver.cuMemcpyHtoDAsync_v2(address_of(to, begin), chunk.memory, count, context_->stream());
    driver.cuEventRecord(chunk.done, context_->stream());
  }
}

void DriverCopies::to_host(void* to, const void* from, size_t bytes) {
  const Driver& driver = context_->driver();
  if (bytes) prepare();
  const size_t count = (bytes + kChunk - 1) / kChunk;
  const auto size_of = [&](size_t i) { return std::min(kChunk, bytes - i * kChunk); };
  const auto chunk_of = [&](size_t i) { return chunks_[i % chunks_.size()]; };
  // Chunk i is on its way while chunk i - 1 is emptied. One that is still being copied to the device needs no wait: the
  // copies are in one stream.
  for (size_t i = 0; i <= count; ++i) {
    if (i < count) {
      driver.cuMemcpyDtoHAsync_v2(chunk_of(i).memory, address_of(from, i * kChunk), size_of(i), context_->stream());
      driver.cuEventRecord(chunk_of(i).done, context_->stream());
    }
    if (i > 0) {
      driver.cuEventSynchronize(chunk_of(i - 1).done);
      std::memcpy(static_cast<std::byte*>(to) + (i - 1) * kChunk, chunk_of(i - 1).memory, size_of(i - 1));
    }
  }
}

void DriverCopies::on_device(void* to, const void* from, size_t bytes) {
  if (bytes) context_->driver().cuMemcpyDtoDAsync_v2(address_of(to), address_of(from), bytes, context_->stream());
}

}  // namespace retrace::cuda
