#include "retrace/device/cuda/driver/driver_runtime.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <type_traits>

#include "retrace/base/error.h"
#include "retrace/device/cuda/driver/driver_copies.h"
#include "retrace/device/cuda/driver/driver_kernels.h"
#include "retrace/device/cuda/driver/driver_lane.h"
#include "retrace/device/cuda/driver/driver_memory.h"

namespace retrace::cuda {
namespace {

constexpr int kOldestCapability = 80;

class DriverRuntime final : public Runtime {
 public:
  DriverRuntime(std::shared_ptr<const Driver> driver, CUdevice device, std::span<const KernelImage> images)
      : driver_(std::move(driver)), device_(device), images_(images), model_(device_model(*driver_, device)) {}

  std::string model() const override { return model_; }
  bool is_emulated() const override { return false; }
  size_t memory() override {
    return with_parts([&](Parts& parts) { return parts.memory.total(); });
  }

  void* allocate(size_t bytes) override {
    return with_parts([&](Parts& parts) { return parts.memory.allocate(bytes); });
  }
  void release(void* memory) override {
    Parts& made = parts();
    made.context->alone([&] { made.memory.release(memory); });
  }
  void* allocate_on_host(size_t bytes) override {
    return with_parts([&](Parts& parts) { return parts.memory.allocate_on_host(bytes); });
  }
  void copy_from_host(void* to, const void* from, size_t bytes) override { parts().copies.from_host(to, from, bytes); }
  void copy_to_host(void* to, const void* from, size_t bytes) override { parts().copies.to_host(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override { parts().copies.on_device(to, from, bytes); }
  std::unique_ptr<HostCopy> start_copy_to_host(std::span<const DevicePart> from) override {
    const Kernel* late_copy = images_.empty() ? nullptr : &find_kernel("late_copy");
    return parts().copies.start_to_host(from, late_copy);
  }
  const Kernel& find_kernel(std::string_view name) override {
    return with_parts([&](Parts& parts) -> const Kernel& { return parts.kernels.find(name); });
  }
  std::vector<std::shared_ptr<const Kernel>> compile(const std::string& source,
                                                     std::span<const std::string> names) override {
    std::shared_ptr<DriverModule> module;  // outlives the scope, which its destructor needs for itself
    return with_parts([&](Parts& parts) {
      module = parts.kernels.compile(source);
      std::vector<std::shared_ptr<const Kernel>> kernels;
      for (const auto& name : names) kernels.emplace_back(module, &module->find(name));
      return kernels;
    });
  }
  void launch(const Launch& launch) override {
    with_parts([&](Parts& parts) { cuda::launch(*parts.context, launch, parts.context->stream()); });
  }
  std::vector<double> time(std::span<const Launch> launches) override {
    return with_parts([&](Parts& parts) { return time_launches(*parts.context, launches); });
  }
  std::unique_ptr<Graph> make_graph(std::span<const Launch> launches, const Edges& edges) override {
    return with_parts([&](Parts& parts) { return cuda::make_graph(parts.context, launches, edges); });
  }
  std::unique_ptr<Lane> make_lane() override { return make_driver_lane(parts().context); }
  void synchronize() override {
    Parts& made = parts();
    const CurrentContext current(*made.context);
    made.context->synchronize();
  }

 private:
  struct Parts {
    Parts(std::shared_ptr<const DriverContext> made, std::span<const KernelImage> images, int capability)
        : context(std::move(made)), memory(context), copies(context), kernels(context, images, capability) {}
    std::shared_ptr<const DriverContext> context;
    DriverMemory memory;
    DriverCopies copies;
    DriverKernels kernels;
  };

  // Made by the first call; one that fails leaves nothing, and the next one tries again.
  Parts& parts() {
    const std::lock_guard lock(making_);
    if (!parts_)
      parts_.emplace(std::make_shared<const DriverContext>(driver_, device_), images_,
                     device_capability(*driver_, device_));
    return *parts_;
  }

  template <class Body>
  std::invoke_result_t<Body, Parts&> with_parts(Body body) {
    Parts& made = parts();
    const ContextScope scope(*made.context);
    return body(made);
  }

  std::shared_ptr<const Driver> driver_;
  CUdevice device_;
  std::span<const KernelImage> images_;
  std::string model_;
  std::mutex making_;
  std::optional<Parts> parts_;
};

std::string too_old(const Driver& driver, CUdevice device, int capability) {
  return fmt::format("{} has compute capability {}.{}, and 8.0 or newer is needed", device_model(driver, device),
                     capability / 10, capability % 10);
}

}  // namespace

std::vector<std::unique_ptr<Runtime>> driver_runtimes(std::string& why_not, std::span<const KernelImage> images) {
  const auto driver = Driver::open(why_not);
  if (!driver) return {};
  std::vector<std::unique_ptr<Runtime>> runtimes;
  try {
    int count = 0;
    driver->cuDeviceGetCount(&count);
    if (count == 0) why_not = "the CUDA driver finds no device (see CUDA_VISIBLE_DEVICES)";
    for (int i = 0; i < count; ++i) {
      CUdevice device = 0;
      driver->cuDeviceGet(&device, i);
      const int capability = device_capability(*driver, device);
      if (capability >= kOldestCapability) {
        runtimes.push_back(std::make_unique<DriverRuntime>(driver, device, images));
      } else {
        why_not += (why_not.empty() ? "" : "; ") + too_old(*driver, device, capability);
      }
    }
  } catch (const Error& error) {
    why_not = error.message();
    return {};
  }
  if (!runtimes.empty()) why_not.clear();
  return runtimes;
}

}  // namespace retrace::cuda
