#include "retrace/base/fp_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace retrace {

// Out of line on purpose: no arithmetic of the caller may move across the change of the register.
#if defined(__x86_64__)
namespace {
constexpr uint64_t kContract = 0x1F80;  // six exceptions masked, nearest even, neither FTZ nor DAZ
constexpr uint64_t kFlags = 0x3F;       // that operations raise
}  // namespace
uint64_t floating_point_control() { return _mm_getcsr(); }
void set_floating_point_control(uint64_t value) { _mm_setcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
namespace {
constexpr uint64_t kContract = 0;  // nearest even, no FZ, no default NaN, no traps
constexpr uint64_t kFlags = 0;     // they are in a register of their own
}  // namespace
uint64_t floating_point_control() {
  uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void set_floating_point_control(uint64_t value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#else
#error "retrace runs on x86-64 and AArch64"
#endif

// Writing the register costs as much as a small kernel: it is left alone where it is as it should be.
FloatingPointScope::FloatingPointScope() : saved_(floating_point_control()) {
  if ((saved_ & ~kFlags) != kContract) set_floating_point_control(kContract);
}
FloatingPointScope::~FloatingPointScope() {
  if ((saved_ & ~kFlags) != kContract) set_floating_point_control(saved_);
}

}  // namespace retrace
