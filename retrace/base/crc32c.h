#pragma once
// CRC-32C (Castagnoli, as in RFC 3720), of records of event files.

#include <cstdint>
#include <string_view>

namespace retrace {

// "123456789" has 0xe3069283.
uint32_t crc32c(std::string_view bytes);

}  // namespace retrace
