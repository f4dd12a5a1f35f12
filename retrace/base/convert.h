#pragma once
// A number in another type, for the CPU's and for CUDA kernels.

#include "retrace/base/scalar.h"

namespace retrace {

template <class To>
struct IntegerRange;
template <>
struct IntegerRange<int> {
  static constexpr int least = -0x7fffffff - 1, most = 0x7fffffff;
};
template <>
struct IntegerRange<unsigned char> {
  static constexpr unsigned char least = 0, most = 255;
};

// Floats become integers by truncation, saturating; NaN gives 0. Integers of 64 bits saturate in 32. All else is
// static_cast.
template <class To, class From>
RT_RULE To converted(From x) {
  constexpr bool from_float = static_cast<From>(0.5) != From(0), to_float = static_cast<To>(0.5) != To(0);
  if constexpr (from_float && !to_float && sizeof(To) == 8) {
    return static_cast<To>(rules::truncate_to_int(static_cast<double>(x)).value);
  } else if constexpr (from_float && !to_float) {
    const auto whole = rules::truncate_to_int(x).value;
    if (whole > IntegerRange<To>::most) return IntegerRange<To>::most;
    if (whole < IntegerRange<To>::least) return IntegerRange<To>::least;
    return static_cast<To>(whole);
  } else if constexpr (!from_float && !to_float && sizeof(From) == 8 && sizeof(To) == 4) {
    return x > IntegerRange<To>::most    ? IntegerRange<To>::most
           : x < IntegerRange<To>::least ? IntegerRange<To>::least
                                         : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace retrace
