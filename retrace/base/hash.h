#pragma once
// One stable hash for keys.

#include <cstdint>
#include <string_view>

#include "retrace/base/mix64.h"

namespace retrace {

// FNV-1a (Fowler, Noll, Vo), 64 bits, over the bytes.
constexpr uint64_t fnv1a(std::string_view bytes, uint64_t state = 0xcbf29ce484222325ull) {
  for (char c : bytes) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return state;
}

// FNV-1a, mixed by splitmix64's finaliser (mix64.h).
constexpr uint64_t hash_bytes(std::string_view bytes) { return mix64(fnv1a(bytes)); }

}  // namespace retrace
