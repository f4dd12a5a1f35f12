#pragma once
// Philox4x32-10, a counter-based generator: four 32-bit words from a 128-bit counter and a 64-bit key, ten rounds of
// two 32 x 32 -> 64 bit products (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011).
//
// A draw is a function of (seed, purpose, step, op, sample, element). The 64-bit key is a hash of (seed, purpose, step,
// op), stream_key(); the counter is (element / 4, sample), 64 bits each; word element mod 4 of the block belongs to the
// element. Integer operations only: the same on every device.

#include <array>
#include <cstdint>
#include <string_view>

#include "retrace/base/hash.h"

#if defined(__CUDACC__)
#define RT_PHILOX __host__ __device__ constexpr
#else
#define RT_PHILOX constexpr
#endif

namespace retrace {

RT_PHILOX std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * counter[0], b = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

// The four words of one block of a stream.
RT_PHILOX std::array<uint32_t, 4> philox_block(uint64_t key, uint64_t sample, uint64_t block) {
  return philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), static_cast<uint32_t>(sample),
                     static_cast<uint32_t>(sample >> 32)},
                    {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
}

RT_PHILOX uint32_t philox_bits(uint64_t key, uint64_t sample, uint64_t element) {
  return philox_block(key, sample, element / 4)[element % 4];
}

// 64 bits that stand for (seed, purpose, step, op): each part is mixed in by splitmix64's finaliser.
RT_PHILOX uint64_t stream_key(uint64_t seed, uint64_t purpose, uint64_t step, uint64_t op) {
  return hash_combine(hash_combine(hash_combine(mix64(seed + 0x9e3779b97f4a7c15ull), purpose), step), op);
}

// [0, 1): the 24 high bits times 2^-24.
RT_PHILOX float uniform_from(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
// 0 .. n-1 by the high half of a product.
RT_PHILOX uint32_t bounded_from(uint32_t bits, uint32_t n) { return static_cast<uint32_t>((uint64_t{bits} * n) >> 32); }

}  // namespace retrace
