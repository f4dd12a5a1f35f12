#pragma once
// Element types.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace retrace {

// Types of elements: f32 is for work; f64 for references; i32, u8 and bool for labels, images and masks.
enum class DType : uint8_t { f32, f64, i32, u8, boolean };

// Bytes of an element.
constexpr size_t size_of(DType type) {
  switch (type) {
    case DType::f32:
    case DType::i32: return 4;
    case DType::f64: return 8;
    case DType::u8:
    case DType::boolean: break;
  }
  return 1;
}

// "f32", "f64", "i32", "u8", "bool".
std::string_view name_of(DType type);
// Returns false for an unknown name.
bool parse_dtype(std::string_view name, DType& type);

// Whether the type is f32 or f64.
constexpr bool is_float(DType type) { return type == DType::f32 || type == DType::f64; }

// Whether the type can hold this number: an integer type holds whole numbers of its range, bool 0 and 1; a float type
// rounds any.
bool can_hold(DType type, double value);
// "whole numbers from 0 to 255", of a type that is no float type.
std::string_view range_of(DType type);

// The element type of a C++ type: float, double, int32_t, uint8_t, bool.
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

}  // namespace retrace
