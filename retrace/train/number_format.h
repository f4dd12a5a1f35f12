#pragma once
// The numbers in the bytes of a safetensors tensor; used by weights.cpp and compare.cpp.

#include <cstdint>

#include "retrace/train/safetensors.h"

namespace retrace {

// How the bits of a type are ordered.
struct NumberFormat {
  int bytes = 0;
  bool floating = false, is_signed = false;
  uint64_t infinity = 0;  // bits of +infinity: above it, without the sign, are NaNs
};

// Of a type that safetensors_type_size() knows.
NumberFormat format_of(const std::string& type);
uint64_t bits_at(const SafeTensor& tensor, uint64_t index, int bytes);
bool is_nan(uint64_t bits, const NumberFormat& format);
bool is_finite(uint64_t bits, const NumberFormat& format);
// A whole number that grows with the value, so that neighbours differ by one.
uint64_t order_of(uint64_t bits, const NumberFormat& format);

}  // namespace retrace
