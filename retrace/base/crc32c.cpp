#include "retrace/base/crc32c.h"

#include <array>

namespace retrace {
namespace {

// The sum of each byte.
constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum & 1 ? sum >> 1 ^ 0x82f63b78u : sum >> 1;
    table[byte] = sum;
  }
  return table;
}();

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t sum = ~0u;
  for (const char byte : bytes) sum = sum >> 8 ^ kCrcTable[(sum ^ static_cast<unsigned char>(byte)) & 255];
  return ~sum;
}

}  // namespace retrace
