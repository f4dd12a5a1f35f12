#pragma once
// Images as PNG files.

#include <cstdint>
#include <string>
#include <vector>

namespace retrace {

// The bytes of a PNG of values [height,width,channels]; channels are 1 (grey) or 3 (red, green, blue), 8 bits each.
// Error(usage) for sizes that are not those of the values.
std::string encode_png(const std::vector<uint8_t>& values, int64_t height, int64_t width, int64_t channels);

}  // namespace retrace
