#include "retrace/device/cuda/driver/driver_copies.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "retrace/base/error.h"
#include "retrace/device/cuda/driver/driver_kernels.h"
#include "retrace/device/cuda/late_copy.h"

namespace retrace::cuda {
namespace {

CUdeviceptr address_of(const void* memory, size_t offset = 0) { return reinterpret_cast<uintptr_t>(memory) + offset; }

}  // namespace

class DriverCopies::Lease {
 public:
  explicit Lease(DriverCopies& copies) : copies_(copies) {
    {
      const std::lock_guard lock(copies_.mutex_);
      if (!copies_.unused_.empty()) {
        chunks_ = std::move(copies_.unused_.back());
        copies_.unused_.pop_back();
      }
    }
    if (!chunks_) chunks_ = make();
  }
  ~Lease() {
    const std::lock_guard lock(copies_.mutex_);
    copies_.unused_.push_back(std::move(chunks_));
  }
  Lease(const Lease&) = delete;

  // The chunk for the i-th part of a copy: two parts in a row have different ones.
  const Chunk& chunk(size_t i) const { return chunks_->all[(chunks_->turn + i) % 2]; }
  // The next copy begins with the chunk that was used the longer time ago.
  void used(size_t count) { chunks_->turn += count; }

 private:
  std::unique_ptr<Chunks> make() const {
    const DriverContext& context = *copies_.context_;
    auto made = std::make_unique<Chunks>();
    const ContextScope scope(context);
    try {
      for (Chunk& chunk : made->all) {
        context.driver().cuMemAllocHost_v2(&chunk.memory, kChunk);
        context.driver().cuEventCreate(&chunk.done, kEventDisableTiming);
      }
    } catch (...) {
      copies_.give_back(*made);
      throw;
    }
    return made;
  }

  DriverCopies& copies_;
  std::unique_ptr<Chunks> chunks_;
};

class DriverCopies::Started final : public HostCopy {
 public:
  Started(DriverCopies& copies, std::span<const DevicePart> parts, const Kernel* late_copy)
      : copies_(copies), lease_(copies) {
    const DriverContext& context = *copies_.context_;
    const ContextScope scope(context);
    if (late_copy)
      launch(context, launch_of(parts, *late_copy), context.stream());
    else
      copy(parts);
    context.driver().cuEventRecord(lease_.chunk(0).done, context.stream());
  }
  const void* wait() override {
    copies_.wait(lease_.chunk(0));
    return lease_.chunk(0).memory;
  }

 private:
  Launch launch_of(std::span<const DevicePart> parts, const Kernel& late_copy) const {
    LateCopyArguments arguments{};
    for (size_t i = 0; i < parts.size(); ++i) {
      arguments.from[i] = static_cast<const unsigned*>(parts[i].from);
      arguments.words[i] = static_cast<int>(parts[i].bytes / sizeof(unsigned));
    }
    arguments.to = static_cast<unsigned*>(lease_.chunk(0).memory);
    Launch launch{&late_copy, {1}, {32}, 0, {}};
    launch.set(arguments);
    return launch;
  }
  void copy(std::span<const DevicePart> parts) const {
    const DriverContext& context = *copies_.context_;
    auto* to = static_cast<std::byte*>(lease_.chunk(0).memory);
    for (const DevicePart& part : parts) {
      context.driver().cuMemcpyDtoHAsync_v2(to, address_of(part.from), part.bytes, context.stream());
      to += part.bytes;
    }
  }

  DriverCopies& copies_;
  Lease lease_;
};

std::unique_ptr<HostCopy> DriverCopies::start_to_host(std::span<const DevicePart> parts, const Kernel* late_copy) {
  ensure(!parts.empty() && parts.size() <= kMostLateParts, "a late copy has one or two parts");
  return std::make_unique<Started>(*this, parts, late_copy);
}

DriverCopies::~DriverCopies() {
  context_->clean_up([&] {
    context_->driver().cuStreamSynchronize.result(context_->stream());
    for (const auto& chunks : unused_) give_back(*chunks);
  });
}

void DriverCopies::give_back(Chunks& chunks) const {
  for (const Chunk& chunk : chunks.all) {
    if (chunk.done) context_->driver().cuEventDestroy_v2.result(chunk.done);
    if (chunk.memory) context_->driver().cuMemFreeHost.result(chunk.memory);
  }
}

void DriverCopies::wait(const Chunk& chunk) const {
  const CurrentContext current(*context_);
  context_->driver().cuEventSynchronize(chunk.done);
}

void DriverCopies::from_host(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  const Driver& driver = context_->driver();
  Lease lease(*this);
  for (size_t begin = 0; begin < bytes; begin += kChunk) {
    const size_t count = std::min(kChunk, bytes - begin);
    const Chunk& chunk = lease.chunk(0);
    wait(chunk);
    std::memcpy(chunk.memory, static_cast<const std::byte*>(from) + begin, count);
    const ContextScope scope(*context_);
    driver.cuMemcpyHtoDAsync_v2(address_of(to, begin), chunk.memory, count, context_->stream());
    driver.cuEventRecord(chunk.done, context_->stream());
    lease.used(1);
  }
}

void DriverCopies::to_host(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  const Driver& driver = context_->driver();
  Lease lease(*this);
  const size_t count = (bytes + kChunk - 1) / kChunk;
  const auto size_of = [&](size_t i) { return std::min(kChunk, bytes - i * kChunk); };
  // Part i is on its way while part i - 1 is emptied. A chunk that is still being copied to the device needs no wait:
  // the copies are in one stream.
  for (size_t i = 0; i <= count; ++i) {
    if (i < count) {
      const ContextScope scope(*context_);
      driver.cuMemcpyDtoHAsync_v2(lease.chunk(i).memory, address_of(from, i * kChunk), size_of(i), context_->stream());
      driver.cuEventRecord(lease.chunk(i).done, context_->stream());
    }
    if (i > 0) {
      wait(lease.chunk(i - 1));
      std::memcpy(static_cast<std::byte*>(to) + (i - 1) * kChunk, lease.chunk(i - 1).memory, size_of(i - 1));
    }
  }
  lease.used(count);
}

void DriverCopies::on_device(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  const ContextScope scope(*context_);
  context_->driver().cuMemcpyDtoDAsync_v2(address_of(to), address_of(from), bytes, context_->stream());
}

}  // namespace retrace::cuda
