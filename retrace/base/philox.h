#pragma once
// Random numbers (docs/numerics/random.md): keyed, never stateful.

#include <array>
#include <cstdint>

#include "retrace/base/hash.h"
#include "retrace/base/philox_core.h"

namespace retrace {

// Philox4x32-10 (Salmon et al. 2011): four words from a counter and a key.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  const auto words = philox_rounds({{counter[0], counter[1], counter[2], counter[3]}}, key[0], key[1]);
  return {words.word[0], words.word[1], words.word[2], words.word[3]};
}

// The four words of one block of a stream. A draw is a function of (seed, purpose, step, op, sample, element):
//   key     64 bits: stream_key(seed, purpose, step, op)
//   counter 128 bits: words 0 and 1 are block = element / 4, words 2 and 3 the sample, low half first
//   result  word element mod 4 of the block that Philox4x32-10 makes of them
// Sample and element have 64 bits each, so draws with one key never meet.
constexpr std::array<uint32_t, 4> philox_block(uint64_t key, uint64_t sample, uint64_t block) {
  const auto words = philox_words(key, sample, block);
  return {words.word[0], words.word[1], words.word[2], words.word[3]};
}

// 64 bits that stand for (seed, purpose, step, op). Each part has 64 bits and is mixed in by a bijection: keys that
// differ in one part only are different; others meet with probability 2^-64.
constexpr uint64_t stream_key(uint64_t seed, uint64_t purpose, uint64_t step, uint64_t op) {
  return hash_combine(hash_combine(hash_combine(mix64(seed + 0x9e3779b97f4a7c15ull), purpose), step), op);
}

}  // namespace retrace
