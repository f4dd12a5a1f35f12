#pragma once
// What a result depends on or might be blamed on: written into every run, shown by `retrace info`.

#include <string>
#include <utility>
#include <vector>

#include "retrace/device/device.h"

namespace retrace {

// Of the numerics contract (docs/numerics.md): equal versions promise equal bits.
constexpr int kContractVersion = 1;

struct Versions {
  std::string retrace;  // "0.1.0"
  int contract = kContractVersion;
  std::string compiler, cpu;
  std::vector<std::string> simd_targets;  // that this machine can run, best first
  std::string simd_target;                // in use
  int threads = 1;                        // in use
  std::string device;                     // in use
  std::vector<DeviceReport> devices;
  std::vector<std::pair<std::string, std::string>> libraries;  // name, version in use
};

// Of this process, with `device` as the one in use.
Versions current_versions(const std::string& device);

// One JSON object on one line: version, contract_version, compiler, cpu, simd_targets, simd_target, threads, device,
// devices, absent (name: why) and libraries.
std::string versions_json(const Versions& versions);

}  // namespace retrace
