#pragma once
// The floating-point environment of the contract.

#include <cstdint>

namespace retrace {

// While it lives this thread rounds to nearest even, keeps subnormal numbers (no FTZ, no DAZ; ARM: no
// default NaN) and traps nothing. The destructor restores the caller's settings; flags that operations raised
// meanwhile may stay raised. Every entry into execution and every worker task holds one. Cost: a nanosecond
// where the settings are those of the contract, which is the default of programs.
class FloatingPointScope {
 public:
  FloatingPointScope();
  ~FloatingPointScope();
  FloatingPointScope(const FloatingPointScope&) = delete;
  FloatingPointScope& operator=(const FloatingPointScope&) = delete;

 private:
  uint64_t saved_;
};

// The control register of this thread (MXCSR or FPCR), for tests.
uint64_t floating_point_control();
void set_floating_point_control(uint64_t value);

}  // namespace retrace
