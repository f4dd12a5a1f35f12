#include "retrace/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "retrace/base/error.h"

namespace retrace {
namespace {
constexpr const char* kNoCuda = "this build of retrace has no CUDA kernels yet";
}

Device& find_device(const std::string& name) {
  if (name == "cpu" || name == "auto") return cpu_device();
  const bool numbered = name.rfind("cuda:", 0) == 0 && name.size() > 5 &&
                        std::all_of(name.begin() + 5, name.end(), [](unsigned char c) { return std::isdigit(c); });
  if (name == "cuda" || numbered)
    throw Error(ErrorKind::unavailable, 601, fmt::format("device {} is not available: {}", name, kNoCuda))
        .help("use --device cpu, or --device auto for the best device of this machine");
  throw Error(ErrorKind::usage, 602, fmt::format("unknown device \"{}\"", name))
      .expected("cpu, cuda, cuda:N or auto")
      .help([&] {
        const auto near = nearest(name, {"cpu", "cuda", "cuda:0", "auto"});
        return near.empty() ? std::string("use auto") : fmt::format("did you mean {}?", near);
      }());
}

std::vector<DeviceReport> list_devices() { return {{"cpu", true, ""}, {"cuda", false, kNoCuda}}; }

}  // namespace retrace
