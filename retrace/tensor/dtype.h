#pragma once
// Element types.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace retrace {

// Types of elements: f32 is for work; f64 for references; i32, u8 and bool for labels, images and masks; bf16 and f16
// for storage, since ops compute them in f32 (docs/numerics.md 10); i64 for large whole numbers.
enum class DType : uint8_t { f32, f64, i32, u8, boolean, bf16, f16, i64 };

// An element of type bf16 (a sign, 8 bits of exponent, 7 behind the point), as its bits.
struct BFloat16 {
  uint16_t bits;
  friend bool operator==(BFloat16, BFloat16) = default;
};
// An element of type f16 (binary16 of IEEE 754), as its bits.
struct Float16 {
  uint16_t bits;
  friend bool operator==(Float16, Float16) = default;
};
// The number, exactly.
float to_f32(BFloat16 x);
float to_f32(Float16 x);
// Rounded to nearest even; what is too large becomes infinite, and NaN stays NaN.
BFloat16 to_bf16(float x);
// The same in f16.
Float16 to_f16(float x);

// Bytes of an element.
constexpr size_t size_of(DType type) {
  switch (type) {
    case DType::f32:
    case DType::i32: return 4;
    case DType::f64:
    case DType::i64: return 8;
    case DType::bf16:
    case DType::f16: return 2;
    case DType::u8:
    case DType::boolean: break;
  }
  return 1;
}

// "f32", "f64", "i32", "u8", "bool", "bf16", "f16", "i64".
std::string_view name_of(DType type);
// Returns false for an unknown name.
bool parse_dtype(std::string_view name, DType& type);

// Whether the type is bf16 or f16.
constexpr bool is_half(DType type) { return type == DType::bf16 || type == DType::f16; }
// Whether the type is f32, f64, bf16 or f16.
constexpr bool is_float(DType type) { return type == DType::f32 || type == DType::f64 || is_half(type); }

// Whether the type can hold this number: an integer type holds whole numbers of its range, bool 0 and 1; a float type
// rounds any.
bool can_hold(DType type, double value);
// "whole numbers from 0 to 255", of a type that is no float type.
std::string_view range_of(DType type);

// The element type of a C++ type: float, double, int32_t, uint8_t, bool, int64_t, BFloat16,
// Float16.
template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<BFloat16>() {
  return DType::bf16;
}
template <>
constexpr DType dtype_of<Float16>() {
  return DType::f16;
}

}  // namespace retrace
