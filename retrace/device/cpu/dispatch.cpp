#include "retrace/device/cpu/dispatch.h"

#include "retrace/device/cpu/compiled_targets.h"
//
#include <fmt/format.h>
#include <hwy/targets.h>

#include <atomic>
#include <string>

#include "retrace/base/error.h"
#include "retrace/base/options.h"

namespace retrace {
namespace {

constexpr SimdTarget kAll[] = {SimdTarget::avx512, SimdTarget::avx2, SimdTarget::neon, SimdTarget::scalar};

std::vector<SimdTarget> detect() {
  const int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  std::vector<SimdTarget> found;
  if (supported & HWY_AVX3) found.push_back(SimdTarget::avx512);
  if (supported & HWY_AVX2) found.push_back(SimdTarget::avx2);
  if (supported & HWY_NEON) found.push_back(SimdTarget::neon);
  found.push_back(SimdTarget::scalar);
  return found;
}

SimdTarget target_named(std::string_view name, std::string_view where) {
  std::string list;
  for (const SimdTarget target : simd_targets()) {
    if (name_of(target) == name) return target;
    list += (list.empty() ? "" : ", ") + std::string(name_of(target));
  }
  bool known = false;
  for (const SimdTarget target : kAll) known |= name_of(target) == name;
  throw Error(ErrorKind::usage, 603,
              known ? fmt::format("this machine cannot run the SIMD target \"{}\"", name)
                    : fmt::format("unknown SIMD target \"{}\"", name.substr(0, 80)))
      .where(std::string(where))
      .expected("one of " + list)
      .help(fmt::format("leave {} out to get \"{}\"", where, name_of(simd_targets().front())));
}

// -1: not chosen yet. Two threads that choose at the same time choose alike.
std::atomic<int> chosen{-1};

SimdTarget choose() {
  const std::string name = environment(EnvironmentVariable::simd);
  const SimdTarget target = name.empty() ? simd_targets().front() : target_named(name, "RETRACE_SIMD");
  int expected = -1;
  chosen.compare_exchange_strong(expected, static_cast<int>(target));
  return static_cast<SimdTarget>(chosen.load());
}

}  // namespace

const std::vector<SimdTarget>& simd_targets() {
  static const std::vector<SimdTarget> targets = detect();
  return targets;
}

std::string_view name_of(SimdTarget target) {
  switch (target) {
    case SimdTarget::avx512: return "avx512";
    case SimdTarget::avx2: return "avx2";
    case SimdTarget::neon: return "neon";
    case SimdTarget::scalar: break;
  }
  return "scalar";
}

SimdTarget simd_target() {
  const int target = chosen.load(std::memory_order_relaxed);
  return target >= 0 ? static_cast<SimdTarget>(target) : choose();
}

void set_simd_target(std::string_view name) { chosen.store(static_cast<int>(target_named(name, "set_simd_target"))); }

}  // namespace retrace
