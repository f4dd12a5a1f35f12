#pragma once
// Elements of kernels that move bits: one of unsigned char, unsigned short, unsigned, unsigned long long, or 16 bytes
// at once.

#include "retrace/device/cuda/global.h"

namespace retrace {

struct alignas(16) Words4 {
  unsigned word[4];
};

}  // namespace retrace
