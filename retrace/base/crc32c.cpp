#include "retrace/base/crc32c.h"

#include <array>

namespace retrace {
namespace {

// Table k has the sum of each byte with k zero bytes behind it, so that eight bytes are taken at once.
constexpr std::array<std::array<uint32_t, 256>, 8> kCrcTables = [] {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum & 1 ? sum >> 1 ^ 0x82f63b78u : sum >> 1;
    tables[0][byte] = sum;
  }
  for (size_t k = 1; k < 8; ++k)
    for (size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 255];
  return tables;
}();

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])); };
  uint32_t sum = ~0u;
  size_t i = 0;
  for (; bytes.size() - i >= 8; i += 8) {
    const uint32_t low = sum ^ (byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24);
    sum = kCrcTables[7][low & 255] ^ kCrcTables[6][low >> 8 & 255] ^ kCrcTables[5][low >> 16 & 255] ^
          kCrcTables[4][low >> 24] ^ kCrcTables[3][byte(i + 4)] ^ kCrcTables[2][byte(i + 5)] ^
          kCrcTables[1][byte(i + 6)] ^ kCrcTables[0][byte(i + 7)];
  }
  for (; i < bytes.size(); ++i) sum = sum >> 8 ^ kCrcTables[0][(sum ^ byte(i)) & 255];
  return ~sum;
}

}  // namespace retrace
