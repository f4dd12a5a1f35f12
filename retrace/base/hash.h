#pragma once
// One stable hash for keys: FNV-1a over bytes and splitmix64's finaliser.

#include <cstdint>
#include <cstring>
#include <string_view>

namespace retrace {

constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

constexpr uint64_t fnv1a(std::string_view bytes, uint64_t state = 0xcbf29ce484222325ull) {
  for (char c : bytes) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return state;
}

constexpr uint64_t hash_bytes(std::string_view bytes) { return mix64(fnv1a(bytes)); }

constexpr uint64_t hash_combine(uint64_t a, uint64_t b) { return mix64(a * 0x9e3779b97f4a7c15ull + b); }

}  // namespace retrace
