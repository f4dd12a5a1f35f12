#include "retrace/train/number_format.h"

namespace retrace {

NumberFormat format_of(const std::string& type) {
  NumberFormat format{.bytes = safetensors_type_size(type)};
  format.is_signed = type[0] == 'I';
  format.infinity = type == "F32"    ? 0x7f800000ull
                    : type == "F64"  ? 0x7ff0000000000000ull
                    : type == "F16"  ? 0x7c00
                    : type == "BF16" ? 0x7f80
                                     : 0;
  format.floating = format.infinity != 0;
  return format;
}

uint64_t bits_at(const SafeTensor& tensor, uint64_t index, int bytes) {
  uint64_t bits = 0;
  for (int i = bytes - 1; i >= 0; --i)
    bits = bits << 8 |
           std::to_integer<uint64_t>(tensor.bytes[index * static_cast<uint64_t>(bytes) + static_cast<uint64_t>(i)]);
  return bits;
}

bool is_nan(uint64_t bits, const NumberFormat& format) {
  const uint64_t sign = 1ull << (8 * format.bytes - 1);
  return format.floating && (bits & (sign - 1)) > format.infinity;
}

bool is_finite(uint64_t bits, const NumberFormat& format) {
  const uint64_t sign = 1ull << (8 * format.bytes - 1);
  return !format.floating || (bits & (sign - 1)) < format.infinity;
}

uint64_t order_of(uint64_t bits, const NumberFormat& format) {
  const uint64_t sign = 1ull << (8 * format.bytes - 1), mask = sign | (sign - 1);
  if (format.floating) return bits & sign ? ~bits & mask : bits | sign;
  return format.is_signed ? bits ^ sign : bits;
}

}  // namespace retrace
