#pragma once
// Elements of any type as numbers.

#include "retrace/tensor/dtype.h"

namespace retrace {

// The element itself; of bf16 and f16 its f32.
template <class T>
T number(T x) {
  return x;
}
inline float number(BFloat16 x) { return to_f32(x); }
inline float number(Float16 x) { return to_f32(x); }

}  // namespace retrace
