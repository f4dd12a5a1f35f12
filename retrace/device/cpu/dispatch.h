#pragma once
// Which instruction set runs. It is chosen once, from the machine and RETRACE_SIMD (base/options.h); every target gives
// the same bits.

#include <string_view>
#include <vector>

namespace retrace {

// The instruction sets that kernels are compiled for.
enum class SimdTarget { avx512, avx2, neon, scalar };

// Targets that this machine can run, best first; scalar is always among them.
const std::vector<SimdTarget>& simd_targets();

// "avx512", "avx2", "neon", "scalar".
std::string_view name_of(SimdTarget target);
// The target in use: the best, or the one named by RETRACE_SIMD or the last set_simd_target().
SimdTarget simd_target();
// Throws Error(usage) that lists simd_targets() if the name is unknown or the machine lacks it.
void set_simd_target(std::string_view name);

// One entry per compiled instruction set; null where not compiled.
template <class Function>
struct KernelTable {
  Function avx512 = nullptr, avx2 = nullptr, neon = nullptr, scalar = nullptr;
  Function get() const { return get(simd_target()); }
  Function get(SimdTarget target) const {
    switch (target) {
      case SimdTarget::avx512: return avx512;
      case SimdTarget::avx2: return avx2;
      case SimdTarget::neon: return neon;
      case SimdTarget::scalar: break;
    }
    return scalar;
  }
};

}  // namespace retrace

// Defines `const KernelTable<...> table` from `function` of each target namespace; use under HWY_ONCE.
#define RT_EXPORT_KERNEL(table, function)                                   \
  extern const KernelTable<decltype(&HWY_STATIC_DISPATCH(function))> table; \
  const KernelTable<decltype(&HWY_STATIC_DISPATCH(function))> table = {     \
      HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_NEON(function), &HWY_STATIC_DISPATCH(function)}
