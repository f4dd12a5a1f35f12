#pragma once
// Pixels of a byte as values between 0 and 1.

#include <cstddef>
#include <cstdint>

namespace retrace {

// to[i] = from[i] / 255 in f32, each rounded once.
void scale_pixels(const uint8_t* from, float* to, size_t count);

}  // namespace retrace
