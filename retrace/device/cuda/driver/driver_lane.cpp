#include "retrace/device/cuda/driver/driver_lane.h"

#include <array>
#include <cstdint>

#include "retrace/device/cuda/driver/driver_kernels.h"

namespace retrace::cuda {
namespace {

CUdeviceptr address_of_peer(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

class DriverMark final : public Mark {
 public:
  // Of the work that `stream` was given so far. Made under a ContextScope.
  DriverMark(std::shared_ptr<const DriverContext> context, CUstream stream) : context_(std::move(context)) {
    context_->driver().cuEventCreate(&event_, kEventDisableTiming);
    if (const CUresult failure = context_->driver().cuEventRecord.result(event_, stream)) {
      context_->driver().cuEventDestroy_v2.result(event_);
      context_->driver().fail("cuEventRecord", failure);
    }
  }
  ~DriverMark() override {
    context_->clean_up([&] { context_->driver().cuEventDestroy_v2.result(event_); });
  }
  bool reached() const override {
    const CurrentContext current(*context_);
    const CUresult answer = context_->driver().cuEventQuery.result(event_);
    if (answer != 0 && answer != kErrorNotReady) context_->driver().fail("cuEventQuery", answer);
    return answer == 0;
  }
  CUevent event() const { return event_; }

 private:
  std::shared_ptr<const DriverContext> context_;
  CUevent event_ = nullptr;
};

class DriverLane final : public Lane {
 public:
  explicit DriverLane(std::shared_ptr<const DriverContext> context) : context_(std::move(context)) {
    const ContextScope scope(*context_);
    context_->driver().cuStreamCreate(&stream_, kStreamNonBlocking);
  }
  ~DriverLane() override {
    context_->clean_up([&] { context_->driver().cuStreamDestroy_v2.result(stream_); });
  }
  std::string device() const override {
    std::array<char, 64> text{};
    context_->driver().cuDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()) - 1, context_->device());
    return text.data();
  }
  std::shared_ptr<const Mark> mark_device() override { return mark_stream(context_->stream()); }
  std::shared_ptr<const Mark> mark() override { return mark_stream(stream_); }
  void wait_for(const Mark& mark) override { wait(stream_, mark); }
  void hold_device(const Mark& mark) override { wait(context_->stream(), mark); }
  void copy(void* to, const Lane& from, const void* memory, size_t bytes) override {
    if (bytes == 0) return;
    const DriverContext& other = *static_cast<const DriverLane&>(from).context_;
    const ContextScope scope(*context_);
    context_->driver().cuMemcpyPeerAsync(address_of_peer(to), context_->context(), address_of_peer(memory),
                                         other.context(), bytes, stream_);
  }
  void launch(const Launch& launch) override {
    const ContextScope scope(*context_);
    cuda::launch(*context_, launch, stream_);
  }
  void with_stream(FunctionRef<void(void* stream)> body) override {
    const CurrentContext current(*context_);
    body(stream_);
  }

 private:
  std::shared_ptr<const Mark> mark_stream(CUstream stream) {
    const ContextScope scope(*context_);
    return std::make_shared<DriverMark>(context_, stream);
  }
  void wait(CUstream stream, const Mark& mark) {
    const ContextScope scope(*context_);
    context_->driver().cuStreamWaitEvent(stream, static_cast<const DriverMark&>(mark).event(), 0u);
  }

  std::shared_ptr<const DriverContext> context_;
  CUstream stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Lane> make_driver_lane(std::shared_ptr<const DriverContext> context) {
  return std::make_unique<DriverLane>(std::move(context));
}

}  // namespace retrace::cuda
