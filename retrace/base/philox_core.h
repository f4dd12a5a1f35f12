#pragma once
// Philox4x32-10, a counter-based generator. Integer operations on plain types only: for host code, nvcc and NVRTC,
// which see the same text.

#ifdef __CUDACC__
#define RT_PHILOX __host__ __device__ constexpr
#else
#define RT_PHILOX constexpr
#endif

namespace retrace {

// A block of random bits, or a counter.
struct PhiloxWords {
  unsigned word[4];
};

// Four 32-bit words from a 128-bit counter and a 64-bit key, by ten rounds of two 32 x 32 -> 64 bit products (Salmon,
// Moraes, Dror & Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011).
RT_PHILOX PhiloxWords philox_rounds(PhiloxWords counter, unsigned key0, unsigned key1) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * counter.word[0], b = 0xCD9E8D57ull * counter.word[2];
    counter = {{static_cast<unsigned>(b >> 32) ^ counter.word[1] ^ key0, static_cast<unsigned>(b),
                static_cast<unsigned>(a >> 32) ^ counter.word[3] ^ key1, static_cast<unsigned>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// The four words of block `block` (elements 4 block .. 4 block + 3) of a sample.
RT_PHILOX PhiloxWords philox_words(unsigned long long key, unsigned long long sample, unsigned long long block) {
  return philox_rounds({{static_cast<unsigned>(block), static_cast<unsigned>(block >> 32),
                         static_cast<unsigned>(sample), static_cast<unsigned>(sample >> 32)}},
                       static_cast<unsigned>(key), static_cast<unsigned>(key >> 32));
}

// The word of one element of a sample.
RT_PHILOX unsigned philox_bits(unsigned long long key, unsigned long long sample, unsigned long long element) {
  return philox_words(key, sample, element / 4).word[element % 4];
}

// Uniform in [0, 1): the 24 high bits times 2^-24.
RT_PHILOX float uniform_from(unsigned bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

// Uniform in 0 .. n-1: the high half of a product.
RT_PHILOX unsigned bounded_from(unsigned bits, unsigned n) {
  return static_cast<unsigned>((static_cast<unsigned long long>(bits) * n) >> 32);
}

}  // namespace retrace
