#include "retrace/train/versions.h"

#include <fmt/format.h>
#include <hwy/highway.h>
#include <png.h>
#include <sys/utsname.h>
#include <toml++/impl/version.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <nlohmann/detail/abi_macros.hpp>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/data/jpeg_decoder.h"
#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"

namespace retrace {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos && colon + 2 <= line.size())
      return printable(line.substr(colon + 2));
  }
  utsname system{};
  return ::uname(&system) == 0 ? system.machine : "unknown";
}

std::string compiler_name() {
#ifdef __clang__
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::vector<std::pair<std::string, std::string>> library_versions() {
  return {{"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"highway", fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
          {"libjpeg-turbo", JpegDecoder::version()},
          {"libpng", png_get_libpng_ver(nullptr)},
          {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                        NLOHMANN_JSON_VERSION_PATCH)},
          {"tomlplusplus", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)},
          {"zlib", zlibVersion()},
          {"zstd", ZSTD_versionString()}};
}

Json json_of(const Versions& versions) {
  std::vector<Json> present;
  std::vector<Json::Member> absent;
  for (const auto& device : versions.devices) {
    if (device.available)
      present.emplace_back(device.name);
    else
      absent.emplace_back(device.name, device.detail);
  }
  return Json::object({{"version", versions.retrace},
                       {"contract_version", versions.contract},
                       {"compiler", versions.compiler},
                       {"cpu", versions.cpu},
                       {"simd_targets", Json::list({versions.simd_targets.begin(), versions.simd_targets.end()})},
                       {"simd_target", versions.simd_target},
                       {"threads", versions.threads},
                       {"device", versions.device},
                       {"devices", Json::list(present)},
                       {"absent", Json::object(absent)},
                       {"libraries", Json::object({versions.libraries.begin(), versions.libraries.end()})}});
}

}  // namespace

Versions current_versions(const std::string& device) {
  Versions versions;
  versions.retrace = RETRACE_VERSION;
  versions.compiler = compiler_name();
  versions.cpu = cpu_name();
  for (const SimdTarget target : simd_targets()) versions.simd_targets.emplace_back(name_of(target));
  versions.simd_target = name_of(simd_target());
  versions.threads = thread_count();
  versions.device = device;
  versions.devices = list_devices();
  versions.libraries = library_versions();
  return versions;
}

std::string versions_json(const Versions& versions) { return json_of(versions).text(); }

}  // namespace retrace
