#include "retrace/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "retrace/base/error.h"
#include "retrace/device/cuda/cuda_device.h"

namespace retrace {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why, Place place) {
  throw Error(ErrorKind::unavailable, 601, fmt::format("device {} is not available: {}", name, why))
      .where(place)
      .help("the device cpu is always there, auto is the best of this machine");
}

std::string there_are_gpus() {
  return fmt::format("there {} {} CUDA device{}", gpu_count() == 1 ? "is" : "are", gpu_count(),
                     gpu_count() == 1 ? "" : "s");
}

// "gpu" as "cuda", "gpu:1" as "cuda:1".
std::string cuda_for_gpu(std::string_view name) {
  if (name != "gpu" && !name.starts_with("gpu:")) return std::string(name);
  return "cuda" + std::string(name.substr(3));
}

// The numbers of "cuda:N,M,..."; empty for any other text.
std::vector<int> cuda_numbers(std::string_view name) {
  constexpr std::string_view kPrefix = "cuda:";
  if (!name.starts_with(kPrefix)) return {};
  std::vector<int> numbers;
  const char *at = name.data() + kPrefix.size(), *const end = name.data() + name.size();
  for (;; ++at) {
    unsigned char number = 0;  // at most 255: no sign, few digits
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (behind != end && *behind != ',')) return {};
    numbers.push_back(number);
    if (behind == end) return numbers;
    at = behind;
  }
}

// All of this process for "cuda" and "auto".
std::vector<int> wanted_cuda_devices(const std::string& name) {
  if (name != "cuda" && name != "auto") return cuda_numbers(name);
  std::vector<int> all;
  for (int i = 0; i < gpu_count(); ++i) all.push_back(i);
  return all;
}

}  // namespace

Device& device_at(DeviceId id, Place place) {
  if (id == 0) return cpu_device();
  if (id > 0 && id <= gpu_count()) return cuda_device(id - 1);
  refuse(fmt::format("number {}", id), can_use_gpu() ? there_are_gpus() : cuda::why_no_runtime(), place);
}

bool is_device_name(std::string_view text) {
  const std::string name = cuda_for_gpu(text);
  return name == "cpu" || name == "cuda" || name == "auto" || !cuda_numbers(name).empty();
}

Device& find_device(const std::string& text, int worker, Place place) {
  if (worker < 0)
    throw Error(ErrorKind::usage, 608, fmt::format("a device is asked for worker {}", worker))
        .where(place)
        .expected("0 or more: workers are counted from 0");
  const std::string name = cuda_for_gpu(text);
  if (name == "cpu" || (name == "auto" && !can_use_gpu())) return cpu_device();
  if (is_device_name(name)) {
    if (!can_use_gpu()) refuse(name, cuda::why_no_runtime(), place);
    const auto numbers = wanted_cuda_devices(name);
    for (const int number : numbers)
      if (number >= gpu_count()) refuse(fmt::format("cuda:{}", number), there_are_gpus(), place);
    return cuda_device(numbers[static_cast<size_t>(worker) % numbers.size()]);
  }
  throw Error(ErrorKind::usage, 602, fmt::format("unknown device \"{}\"", text))
      .where(place)
      .expected("cpu, cuda, cuda:N, cuda:N,M or auto")
      .help([&] {
        const auto near = nearest(name, {"cpu", "cuda", "gpu", "cuda:0", "auto"});
        return near.empty() ? std::string("use auto") : fmt::format("did you mean {}?", near);
      }());
}

int gpu_count(const std::string& name) {
  if (&find_device(name) == &cpu_device()) return 0;
  std::vector<int> numbers = wanted_cuda_devices(cuda_for_gpu(name));
  std::sort(numbers.begin(), numbers.end());
  return static_cast<int>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
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
