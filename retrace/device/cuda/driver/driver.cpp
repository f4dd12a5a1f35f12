#include "retrace/device/cuda/driver/driver.h"

#include <fmt/format.h>

#include <array>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/options.h"

namespace retrace::cuda {
namespace {

constexpr int kOldestVersion = 12000;

// The meaning of driver results to a user. Results that are not listed are our mistakes.
struct Meaning {
  CUresult first, last;
  ErrorKind kind;
  int code;
  const char* consequence;
  const char* help;
};
constexpr const char* kRestart = "start the program again; compute-sanitizer finds the kernel and the address";
constexpr const char* kUpdate = "install a driver at least as new as the CUDA toolkit that made the kernels";
constexpr const char* kHardware = "the device is unusable for this process";
constexpr std::array kMeanings = {
    Meaning{2, 2, ErrorKind::unavailable, 631, "no memory is left on the device or for pinned memory of the host",
            "use smaller batches, or end other programs on this machine"},
    Meaning{3, 4, ErrorKind::unavailable, 632, "the driver is not running", "call it from a running program only"},
    Meaning{34, 34, ErrorKind::unavailable, 632, "the library is a stub without a driver",
            "install the driver, or take the toolkit's stubs out of LD_LIBRARY_PATH"},
    Meaning{36, 36, ErrorKind::unavailable, 632, "the driver is too old", "install a newer driver"},
    Meaning{46, 46, ErrorKind::unavailable, 632, "the device is busy or in exclusive use",
            "end the program that holds it, or choose another device with CUDA_VISIBLE_DEVICES"},
    Meaning{100, 101, ErrorKind::unavailable, 632, "there is no such device",
            "see what nvidia-smi lists and what CUDA_VISIBLE_DEVICES leaves"},
    Meaning{200, 200, ErrorKind::unavailable, 633, "the driver cannot read these kernels", kUpdate},
    Meaning{209, 209, ErrorKind::unavailable, 633, "the kernels were not built for this device", kUpdate},
    Meaning{214, 214, ErrorKind::unavailable, 634, kHardware, "the device's memory is damaged: see nvidia-smi -q"},
    Meaning{218, 218, ErrorKind::unavailable, 633, "the driver cannot compile these kernels", kUpdate},
    Meaning{220, 220, ErrorKind::unavailable, 634, kHardware, "a link of the device failed: see nvidia-smi nvlink -s"},
    Meaning{221, 223, ErrorKind::unavailable, 633, "the driver cannot compile these kernels", kUpdate},
    Meaning{700, 700, ErrorKind::internal, 634, kHardware, kRestart},
    Meaning{702, 702, ErrorKind::unavailable, 634, kHardware,
            "a kernel ran longer than the display's watchdog allows: use a device without a display"},
    Meaning{710, 710, ErrorKind::internal, 634, kHardware, kRestart},
    Meaning{714, 719, ErrorKind::internal, 634, kHardware, kRestart},
    Meaning{802, 804, ErrorKind::unavailable, 632, "the driver's parts do not fit together",
            "restart the machine after a driver was installed"},
};

const Meaning& meaning_of(CUresult result) {
  static constexpr Meaning mistake{0,   0,  ErrorKind::internal,
                                   630, "", "this is a defect of retrace: please report it with the job and this text"};
  for (const auto& meaning : kMeanings)
    if (meaning.first <= result && result <= meaning.last) return meaning;
  return mistake;
}

}  // namespace

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::shared_ptr<const Driver> Driver::open(std::string& why_not) {
  const std::string named = environment(EnvironmentVariable::cuda_driver);
  const std::string file = named.empty() ? "libcuda.so.1" : named;
  SharedLibrary library({&file, 1});
  if (!library.open()) {
    why_not = fmt::format("no CUDA driver ({}) on this machine", file);
    if (!named.empty()) why_not += ": " + printable(library.reason());
    return nullptr;
  }
  const std::shared_ptr<Driver> driver(new Driver(std::move(library)));
  why_not = driver->start();
  return why_not.empty() ? driver : nullptr;
}

Driver::Driver(SharedLibrary library) : library_(std::move(library)) {}

std::string Driver::start() {
  const auto has = [&](const char* symbol) { return library_.find(symbol) != nullptr; };
  if (has("cuDriverGetVersion")) cuDriverGetVersion.result(&version_);
  if (version_ && version_ < kOldestVersion)
    return fmt::format("the CUDA driver is too old: it supports CUDA {}, and {} or newer is needed",
                       version_text(version_), version_text(kOldestVersion));
  if (!missing_.empty()) return fmt::format("the CUDA driver has no {}: it is too old or damaged", missing_.front());
  if (const CUresult failure = cuInit.result(0))
    return fmt::format("the CUDA driver does not start: cuInit: {}", describe(failure));
  return "";
}

void* Driver::find(const char* symbol, bool required) {
  void* const address = library_.find(symbol);
  if (!address && required) missing_.emplace_back(symbol);
  return address;
}

std::string Driver::describe(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName.result(result, &name);
  cuGetErrorString.result(result, &text);
  return fmt::format("{} ({})", name ? name : fmt::format("result {}", result), text ? text : "no text");
}

void Driver::fail(const char* symbol, CUresult result) const {
  const Meaning& meaning = meaning_of(result);
  const std::string consequence = *meaning.consequence ? fmt::format("{}: ", meaning.consequence) : "";
  throw Error(meaning.kind, meaning.code, fmt::format("cuda: {}{}", consequence, describe(result)))
      .where(symbol)
      .got(fmt::format("driver for CUDA {}", version_text(version_)))
      .help(meaning.help);
}

}  // namespace retrace::cuda
