#pragma once
// Division of 32-bit numbers by one that the host knows when it fills in a kernel's arguments: a multiplication, two
// shifts and two additions. A device divides by a number that it learns at run time with some 20 instructions, among
// them conversions to float and back. (Granlund and Montgomery, Division by invariant integers using multiplication.)

#include "retrace/device/cuda/global.h"

namespace retrace::cuda {

// Of any number by any divisor from 1 to 2^32 - 1; 0, of axes without elements, counts as 1.
struct Divisor {
  unsigned divisor = 1, multiplier = 1, first_shift = 0, second_shift = 0;

  Divisor() = default;
  RT_BOTH constexpr explicit Divisor(unsigned by) : divisor(by > 0 ? by : 1) {
    unsigned bits = 0;  // the divisor is at most 2^bits
    while (bits < 32 && (1ull << bits) < divisor) ++bits;
    multiplier = static_cast<unsigned>((((1ull << bits) - divisor) << 32) / divisor + 1);
    first_shift = bits > 0 ? 1 : 0, second_shift = bits > 0 ? bits - 1 : 0;
  }

  RT_BOTH unsigned divide(unsigned n) const {
    const auto high = static_cast<unsigned>(static_cast<unsigned long long>(multiplier) * n >> 32);
    return (high + ((n - high) >> first_shift)) >> second_shift;
  }
  struct Parts {
    unsigned quotient, remainder;
  };
  RT_BOTH Parts split(unsigned n) const {
    const unsigned quotient = divide(n);
    return {quotient, n - quotient * divisor};
  }
};

}  // namespace retrace::cuda
