#pragma once
// Elements as unsigned numbers in the same order, for the CPU and for CUDA kernels.

#include "retrace/device/cuda/global.h"

namespace retrace {

struct SortOrder {
  bool descending, nan_first;
};

// Of the bits of an f32 or f64 with that infinity. Equal for -0 and +0, and for all NaN.
template <class Bits>
RT_BOTH Bits float_key(Bits bits, Bits infinity, SortOrder order) {
  constexpr Bits sign = Bits(1) << (8 * sizeof(Bits) - 1);
  const Bits magnitude = bits & ~sign;
  if (magnitude > infinity) return order.nan_first ? Bits(0) : ~Bits(0);
  if (magnitude == 0) bits = 0;
  const Bits key = (bits & sign) != 0 ? ~bits : bits | sign;
  return order.descending ? ~key : key;
}

RT_BOTH unsigned sort_key(float, unsigned bits, SortOrder order) { return float_key(bits, 0x7f800000u, order); }

RT_BOTH unsigned sort_key(int, unsigned bits, SortOrder order) {
  const unsigned key = bits ^ 0x80000000u;
  return order.descending ? ~key : key;
}

RT_BOTH unsigned sort_key(unsigned char, unsigned bits, SortOrder order) { return order.descending ? ~bits : bits; }

}  // namespace retrace
