#include "retrace/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "retrace/base/error.h"
#include "retrace/device/cuda/cuda_device.h"

namespace retrace {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::unavailable, 601, fmt::format("device {} is not available: {}", name, why))
      .help("use --device cpu, or --device auto for the best device of this machine");
}

// The N of "cuda:N", 0 for "cuda"; -1 for any other text.
int cuda_number(const std::string& name) {
  if (name == "cuda") return 0;
  int number = -1;
  if (name.rfind("cuda:", 0) != 0) return -1;
  const auto [end, error] = std::from_chars(name.data() + 5, name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() && number >= 0 ? number : -1;
}

}  // namespace

Device& device_at(DeviceId id) {
  if (id == 0) return cpu_device();
  return cuda_device(id - 1);
}

Device& find_device(const std::string& name) {
  if (name == "cpu" || (name == "auto" && !can_use_gpu())) return cpu_device();
  if (name == "auto") return cuda_device(0);
  if (const int number = cuda_number(name); number >= 0) {
    if (!can_use_gpu()) refuse(name, cuda::why_no_runtime());
    if (number >= gpu_count())
      refuse(name, fmt::format("there {} {} CUDA device{}", gpu_count() == 1 ? "is" : "are", gpu_count(),
                               gpu_count() == 1 ? "" : "s"));
    return cuda_device(number);
  }
  throw Error(ErrorKind::usage, 602, fmt::format("unknown device \"{}\"", name))
      .expected("cpu, cuda, cuda:N or auto")
      .help([&] {
        const auto near = nearest(name, {"cpu", "cuda", "cuda:0", "auto"});
        return near.empty() ? std::string("use auto") : fmt::format("did you mean {}?", near);
      }());
}

std::vector<DeviceReport> list_devices() {
  std::vector<DeviceReport> reports{{"cpu", true, ""}};
  for (Device* device : gpus()) {
    cuda::Runtime& runtime = cuda_device(device->id() - 1).runtime();
    reports.push_back({device->name(), true, runtime.model()});
  }
  if (!can_use_gpu()) reports.push_back({"cuda", false, cuda::why_no_runtime()});
  return reports;
}

}  // namespace retrace
